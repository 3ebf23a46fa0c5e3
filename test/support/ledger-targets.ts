import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { addKey } from '../../src/checkpoints/ledger-keys.ts';
import { redactEntry } from '../../src/cli/redaction/redact-entry.ts';
import type { Database, Reader, Row, Transaction } from '../../src/db/database.ts';
import { type ProjectOptions, type ReviewPolicy, setProjectOptions } from '../../src/domains/tasks/review/options.ts';
import { indexedWords } from '../../src/domains/tasks/tokenizer.ts';
import { canonicalize, commitKey, type Entry, type Json, originOf, saltedDigest } from '../../src/integrity/index.ts';
import { type Observation, recordObservations } from '../../src/recorder/record.ts';
import { readIdentity } from '../../src/trust/ledger-identity.ts';
import { type OpenOptions, openDatabase } from '../../src/trust/open-database.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { tempFolder } from './folders.ts';
import { newPostgresUrl } from './postgres/database.ts';
import { signingKey } from './signing-key.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly engine: 'sqlite' | 'postgres';
  }
}

/** Where the ledgers are that stand for paths, so that a test which opens a path twice finds the same one. */
const places = new Map<string, Promise<string>>();

/**
 * What tells a server where the ledger of a path is: in that file or, when the suite runs on PostgreSQL, in a schema.
 * It signs nothing, because it would do so with the key of the developer.
 */
export async function ledgerAt(path: string): Promise<Record<string, string>> {
  const place = await placeOf(path);
  const location: Record<string, string> = isUrl(place) ? { COLIBRI_DATABASE_URL: place } : { COLIBRI_DB_PATH: place };
  return { ...location, COLIBRI_KEY_PATH: 'none' };
}

/** The same for a test that opens it without a server. */
export async function databaseAt(path: string): Promise<{ dbPath: string | undefined; databaseUrl?: string }> {
  const place = await placeOf(path);
  return isUrl(place) ? { dbPath: undefined, databaseUrl: place } : { dbPath: place };
}

/** From now on this URL or file stands for the path, whatever the suite runs on. */
export function placeLedger(path: string, place: string): void {
  places.set(path, Promise.resolve(place));
}

function placeOf(path: string): Promise<string> {
  const place = places.get(path) ?? (inject('engine') === 'sqlite' ? Promise.resolve(path) : newPostgresUrl());
  places.set(path, place);
  return place;
}

function isUrl(place: string): boolean {
  return place.startsWith('postgres:');
}

/** A place for a ledger on either engine. */
export interface LedgerTarget {
  readonly engine: Database['engine'];
  /** The location as the command line names it. */
  readonly to: string;
  /** The location as the environment of a server or a command names it. */
  readonly env: Record<string, string>;
}

export function sqliteTarget(path = join(tempFolder(), 'spot.db')): LedgerTarget {
  return { engine: 'sqlite', to: path, env: { COLIBRI_DB_PATH: path } };
}

export async function postgresTarget(): Promise<LedgerTarget> {
  const url = await newPostgresUrl();
  return { engine: 'postgres', to: url, env: { COLIBRI_DATABASE_URL: url } };
}

export const TARGETS: Readonly<Record<Database['engine'], () => Promise<LedgerTarget>>> = {
  sqlite: async () => sqliteTarget(),
  postgres: postgresTarget,
};

/** Closed with the test. */
export async function openTarget(
  { engine, to }: LedgerTarget,
  options: Pick<OpenOptions, 'acceptsUnfinished'> = {},
): Promise<Database> {
  const place = engine === 'sqlite' ? { dbPath: to } : { dbPath: undefined, databaseUrl: to };
  const database = await openDatabase({ ...place, mode: 'FULL', durability: 'relaxed', readOnly: false, ...options });
  onTestFinished(() => database.close());
  return database;
}

export async function verifyTarget(spot: LedgerTarget) {
  const database = await openTarget(spot);
  const { size, root, problems } = await database.read((reader) => verifyEverything(reader));
  await database.close();
  return { size, root, problems };
}

const TABLES = {
  sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'task_search%' ORDER BY name",
  postgres: `SELECT tablename AS name FROM pg_tables
             WHERE schemaname = current_schema() AND tablename NOT IN ('colibri', 'task_search') ORDER BY 1`,
};

/** Every row of every table that there is, and of the search index what the engines have in common. */
export async function readEverything(spot: LedgerTarget): Promise<Record<string, readonly unknown[]>> {
  const database = await openTarget(spot);
  const everything = await database.read(async (reader) => {
    const found: Record<string, readonly unknown[]> = {};
    for (const { name } of await reader.query<{ name: string }>(TABLES[reader.engine]))
      found[name] = inOrder(await reader.query(`SELECT * FROM ${name}`));
    return { ...found, task_search: await listIndexed(reader) };
  });
  await database.close();
  return everything;
}

function inOrder(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

/**
 * Which tasks a search finds, in the index or pending. Whether it knows their words is verified on SQLite, and can be
 * read on PostgreSQL.
 */
async function listIndexed(reader: Reader): Promise<number[]> {
  if (reader.engine === 'sqlite') {
    const rows = await reader.query<{ id: number }>(`SELECT id FROM task_search_docsize
       UNION SELECT task_no FROM tasks WHERE task_no > (SELECT COALESCE(MAX(id), 0) FROM task_search_docsize) ORDER BY id`);
    return rows.map(({ id }) => id);
  }
  const rows = await reader.query<{ task_no: number; words: string; title: string; description: string }>(
    'SELECT task_no, words, title, description FROM task_search LEFT JOIN tasks USING (task_no) ORDER BY task_no',
  );
  return rows
    .filter(({ words, title, description }) => words === indexedWords(title, description))
    .map(({ task_no }) => task_no);
}

/** Writes what `colibri project --review` writes. */
export function setReview(path: string, project: string, review: ReviewPolicy): Promise<void> {
  return setOptions(path, project, { review });
}

/** Writes what `colibri project` writes. */
export function setOptions(path: string, project: string, options: ProjectOptions): Promise<void> {
  const change = { project, options, actor: 'person:ada', at: '2026-04-08T22:00:00.000Z' };
  return writeLedgerAt(path, (transaction) => setProjectOptions(transaction, change));
}

/** Records what hooks of a client and of git report: one session that claims a task, works on it and releases it. */
export function observe(path: string): Promise<void> {
  return writeLedgerAt(path, (transaction) => recordObservations(transaction, observations()));
}

/** Writes what the first signature and `colibri key rotate` write. */
export function addKeys(path: string): Promise<void> {
  return writeLedgerAt(path, async (transaction) => {
    const origin = originOf((await readIdentity(transaction))?.ledgerId ?? '');
    const [key, next] = [signingKey(1), signingKey(2)];
    const said = { origin, actor: 'claude', at: '2026-04-08T22:00:00.000Z' };
    await addKey(transaction, { ...said, key });
    await addKey(transaction, { ...said, key: next, replaces: key });
  });
}

/**
 * Redacts like `colibri redact`: the arguments of a call, an earlier version of a task, and the reason of a redaction.
 */
export function redactSome(path: string): Promise<void> {
  return writeLedgerAt(path, async (transaction) => {
    const decision = { reason: 'a password', actor: 'person:ada', at: '2026-04-08T22:00:00.000Z' };
    const find = async (sql: string) => (await transaction.query<{ idx: number }>(sql))[0]?.idx ?? -1;
    const call = await find('SELECT MIN(sequence_no) AS idx FROM call_exits');
    const redaction = await redactEntry(transaction, call, decision);
    for (const index of [await find('SELECT MIN(idx) AS idx FROM task_versions'), redaction])
      await redactEntry(transaction, index, { ...decision, reason: 'too much was said' });
  });
}

function observations(): Observation[] {
  const at = '2026-04-08T22:00:00.000Z';
  const session = { v: 1, at, actor: 'hook:claude-code', client: 'claude-code', session: 's-1' } as const;
  const call = (call_id: string, fields: Readonly<Record<string, Json>>): Entry => ({
    ...session,
    kind: 'observed',
    call_id,
    event: 'PostToolUse',
    phase: 'after',
    ...fields,
  });
  const digests = {
    input: saltedDigest('observed-input', SALT, '{}'),
    output: saltedDigest('observed-output', SALT, ''),
  };
  const ran = {
    tool: 'Bash',
    outcome: 'ok',
    exit_code: 0,
    duration_ms: 12,
    model: 'm',
    agent: 'a',
    client_version: '1',
  };
  const sha = 'ab'.repeat(20);
  return [
    { entry: call('c-1', { tool: 'mcp__colibri__task_update', outcome: 'ok' }), content: '{}', claim: HELD },
    {
      entry: call('c-2', { ...ran, ...digests }),
      content: canonicalize({ command: 'npm test', output: 'ok \u001b[0m' }),
    },
    {
      entry: { ...call('c-1', { tool: 'Bash' }), session: 's-2' },
      content: '{}',
      claim: { taskId: 'T-0002', isHeld: true },
    },
    {
      entry: call('c-5', { tool: 'mcp__colibri__task_update', outcome: 'ok', agent: 'b' }),
      content: '{}',
      claim: { taskId: 'T-0002', isHeld: true, token: 3 },
    },
    {
      entry: call('c-3', { tool: 'mcp__colibri__task_update', outcome: 'ok' }),
      content: '{}',
      claim: { ...HELD, isHeld: false },
    },
    {
      entry: { v: 1, at, actor: 'hook:git', kind: 'observed.commit', sha, tree: sha, parents: [sha], rewrites: sha },
      content: canonicalize({ branch: 'main', paths: ['src/a.ts'] }),
    },
    {
      entry: { ...session, kind: 'observed.coverage', seen: 4, recorded: 3 },
      content: canonicalize({ missing: ['c-4'] }),
    },
    {
      entry: { ...session, kind: 'observed.usage', model: 'm', agent: 'a', task_id: 'T-0001', ...TOKENS },
      content: '{}',
    },
  ].map(({ entry, content, ...claim }, index) => ({
    ...claim,
    salt: SALT,
    content,
    entry: {
      ...entry,
      key: entry.kind === 'observed.commit' ? commitKey(sha, sha) : `${index}`.padStart(32, '0'),
      content: saltedDigest('observed-content', SALT, content),
    },
  })) as Observation[];
}

const TOKENS = {
  responses: 2,
  input_tokens: 10,
  output_tokens: 20,
  cache_read_tokens: 30,
  cache_write_tokens: 40,
  cache_write_1h_tokens: 50,
};
const HELD = { taskId: 'T-0001', isHeld: true };
const SALT = '00112233445566778899aabbccddeeff';

async function writeLedgerAt(path: string, work: (transaction: Transaction) => Promise<unknown>): Promise<void> {
  const database = await openDatabase({
    mode: 'FULL',
    ...(await databaseAt(path)),
    durability: 'relaxed',
    readOnly: false,
  });
  try {
    await database.write({ durable: false }, work);
  } finally {
    await database.close();
  }
}
