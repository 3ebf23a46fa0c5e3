import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openSqlite, type SqliteOptions } from '../../src/db/sqlite/database.ts';
import { loadSqlite, type SqliteDriver } from '../../src/db/sqlite/driver.ts';
import { formatTaskId } from '../../src/ids.ts';
import { type Entry, sha256 } from '../../src/integrity/index.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { openLedger, openLedgerReadOnly } from '../../src/ledger/open.ts';
import type { ToolEnterEvent, ToolExitEvent } from '../../src/middleware/audit.ts';
import type { EntryBytes } from '../../src/verification/log-tree.ts';
import type { LedgerReport } from '../../src/verification/report.ts';
import { verifyEverything, verifyTables } from '../../src/verification/verify-ledger.ts';
import { tempFolder } from './folders.ts';

export const AT = '2026-01-02T03:04:05.678Z';

/** Closed with the test. The busy timeout is generous, so that a slow machine changes nothing. */
export async function openTestDatabase(options: Partial<SqliteOptions> = {}): Promise<Database> {
  const path = options.path ?? join(tempFolder(), 'colibri.db');
  const database = await openSqlite({ readOnly: false, durability: 'full', busyTimeoutMs: 30_000, ...options, path });
  onTestFinished(() => database.close());
  return database;
}

/** A database with a ledger in it that has its first entry and no other. */
export async function openTestLedger(options: Partial<SqliteOptions> = {}): Promise<Database> {
  const database = await openTestDatabase(options);
  await openLedger(database, 'tester', AT);
  return database;
}

/** Opens the file without the port, like a user with an SQLite shell. Closed with the test. */
export async function openRaw(path: string): Promise<SqliteDriver> {
  const driver = await openShell(path);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) driver.close();
    isOpen = false;
  };
  onTestFinished(close);
  return { ...driver, close };
}

async function openShell(path: string): Promise<SqliteDriver> {
  const driver = (await loadSqlite()).open(path, { readOnly: false });
  driver.exec('PRAGMA busy_timeout = 30000');
  return driver;
}

/** Runs a script behind the port's back. */
export async function tamper(path: string, script: string): Promise<void> {
  const driver = await openShell(path);
  try {
    driver.exec(script);
  } finally {
    driver.close();
  }
}

export async function queryFile<Shape>(path: string, sql: string): Promise<Shape[]> {
  const driver = await openRaw(path);
  const rows = driver.prepare(sql).all([]) as Shape[];
  driver.close();
  return rows;
}

/** Checks the whole ledger in a file that a server has written to. */
export async function verifyFile(path: string): Promise<Omit<LedgerReport, 'fast' | 'redacted'>> {
  const database = await openTestDatabase({ path, readOnly: true });
  const { size, root, problems } = await database.read(verifyTables);
  await database.close();
  expect(problems).toEqual([]);
  return { size, root, problems };
}

export async function expectWhole(database: Database): Promise<LedgerReport> {
  const report = await database.read(verifyTables);
  expect(report.problems).toEqual([]);
  return report;
}

/** For tests that append `noteEntry`, whose tasks have no rows: the entries, the nodes and the head must hold. */
export async function expectWholeLog(database: Database): Promise<void> {
  const { problems } = await database.read(verifyTables);
  expect(problems.filter(({ place }) => LOG_PLACES.test(place))).toEqual([]);
}

const LOG_PLACES = /^(?:entry|node|ledger_|call)/;

/** Where a server started in this folder keeps its ledger. */
export function ledgerIn(folder: string): string {
  return join(folder, '.colibri', 'colibri.db');
}

export interface CallRow {
  readonly sequence_no: number;
  readonly tool: string;
  readonly actor: string;
  readonly process_id: string;
  readonly outcome: string | null;
}

export function listCalls(path: string): Promise<CallRow[]> {
  return queryFile(path, 'SELECT sequence_no, tool, actor, process_id, outcome FROM calls ORDER BY sequence_no');
}

export async function countKind(path: string, kind: string): Promise<number> {
  const [row] = await queryFile<{ n: number }>(
    path,
    `SELECT COUNT(*) AS n FROM ledger_entries WHERE entry ->> 'kind' = '${kind}'`,
  );
  return row?.n ?? 0;
}

/** Comes back when the condition holds; the test's own time limit is the only clock. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** An entry without rows in other tables. Numbers are given from 1 on. */
export function noteEntry(no: number, text = ''): Entry {
  const task_id = formatTaskId(no);
  return { v: 1, kind: 'task.created', at: AT, actor: 'tester', task_id, task: sha256(`${no} ${text}`), sessions: [] };
}

export function enterEvent(correlationId: string, argumentsText = '{}'): ToolEnterEvent {
  return { tool: 'server_ping', args: {}, timestamp: 0, correlationId, actor: 'tester', at: AT, argumentsText };
}

export function exitEvent(correlationId: string, outcome = 'ok'): ToolExitEvent {
  return { tool: 'server_ping', correlationId, durationMs: 3, actor: 'tester', at: AT, outcome, answerText: '{}' };
}

/** Whole calls, by the way that a server records them. */
export async function recordCalls(database: Database, count: number, name = 'recorder'): Promise<void> {
  const log = new CallRecorder(database, processIdOf(name));
  for (let call = 0; call < count; call += 1) {
    await log.enter(enterEvent(`call ${call}`, `{"call":${call}}`));
    await log.exit(exitEvent(`call ${call}`, call % 3 === 2 ? 'INVALID_PARAMS' : 'ok'));
  }
}

/** A well-formed process id for a name: the same one in every process of a test. */
export function processIdOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const ID = processIdOf('someone');

/** Process ids that no server makes and a tampered ledger can hold. */
export const ILL_FORMED_PROCESS_IDS: readonly (readonly [name: string, id: string])[] = [
  ['an empty text', ''],
  ['a path out of the folder', '../../victim'],
  ['a path out of the folder behind a folder that exists', 'sub/../../victim'],
  ['an absolute path', '/tmp/victim'],
  ['a path with backslashes', '..\\..\\victim'],
  ['a NUL', `${ID}\0`],
  ['a NUL before more text', `${ID.slice(0, 8)}\0${ID.slice(8)}`],
  ['a very long text', 'a'.repeat(100_000)],
  ['upper case', ID.toUpperCase()],
  ['a line break at the end', `${ID}\n`],
  ['a blank before it', ` ${ID}`],
  ['another version of UUID', `${ID.slice(0, 14)}1${ID.slice(15)}`],
  ['no hyphens', ID.replaceAll('-', '')],
  ['a UUID and something after it', `${ID}/../../victim`],
  ['a name', 'someone'],
  ['digits of another script', ID.replaceAll(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit)))],
];

/** Verifies the whole ledger of a project. */
export async function projectReport(folder: string): Promise<LedgerReport> {
  const path = join(folder, '.colibri', 'colibri.db');
  const database = await openSqlite({ path, readOnly: true, durability: 'full', busyTimeoutMs: 10_000 });
  try {
    await openLedgerReadOnly(database);
    return await database.read((reader) => verifyEverything(reader));
  } finally {
    await database.close();
  }
}

/** All records of all sessions, by their places. */
export const SESSION_RECORDS = `(SELECT session_no, session_seq, idx FROM thoughts
   UNION ALL SELECT session_no, session_seq, idx FROM session_events) AS records`;

/** Entries as a page of the store has them: each behind a byte that may be anything. */
export function toEntryBytes(entries: readonly string[]): EntryBytes {
  let end = 0;
  const ends = Uint32Array.from(entries, (entry) => (end += 1 + Buffer.byteLength(entry)));
  return { bytes: Buffer.from(entries.map((entry) => `\u007f${entry}`).join('')), ends };
}
