import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Database, Engine } from '../../src/db/database.ts';
import { createTables, MIGRATIONS } from '../../src/db/migrate.ts';
import type { TaskRow } from '../../src/domains/tasks/record.ts';
import { currentVersion, type StoredVersion } from '../../src/domains/tasks/versions.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { removeClaims } from './forge/without-claims.ts';
import { processIdOf, tamper } from './ledger.ts';
import { addKeys, databaseAt, observe, redactSome, setOptions, setReview } from './ledger-targets.ts';
import { openServer, type TestServer } from './test-server.ts';

const AT = '2026-04-08T22:00:00.000Z';

export const TWO_LEVELS = { thoughts: 75 };

/**
 * A ledger that uses every table and column: both workflows, labels, dependencies, a parent, a blocked task, sessions
 * deep and shallow, sealed, half sealed and live, thoughts with and without extras, refused calls, a call that was
 * interrupted and one that still runs. With `TWO_LEVELS` thoughts it also has inner nodes of two levels, and takes
 * three times as long to verify.
 */
export async function buildFullLedger(path: string, { thoughts = 5 } = {}): Promise<void> {
  await leaveCall(path, 'a-process-that-died');
  const server = await openServer(path);
  try {
    await makeTasks(server);
    await makeSessions(server);
    for (let number = 1; number <= thoughts; number += 1) {
      await server.recordThought({ task_id: 'T-0001', type: 'reflection', content: `thought ${number}` });
    }
    await server.finalize({ session_id: 'A-0001' });
    await server.startSession({ task_id: 'T-0001', auditor_id: 'second auditor' });
    await server.recordThought({ task_id: 'T-0001', type: 'decision', content: 'in a session that is not sealed' });
    await server.refusal('task_update', { task_id: 'T-0004', status: 'done' });
    await server.refusal('thought_record', { task_id: 'T-0001' });
  } finally {
    await server.close();
  }
  await setReview(path, 'default', 'other');
  await setReview(path, 'release', 'person');
  await setOptions(path, 'default', { review: 'person', require_observed: ['npm test', 'npm run lint'] });
  await observe(path);
  await addKeys(path);
  await redactSome(path);
  await leaveCall(path, 'a-process-that-runs');
}

async function makeTasks(server: TestServer): Promise<void> {
  const words = { title: 'Strict parser', description: 'Refuse half a pair 字 🐦', labels: ['parser', 'strict'] };
  await server.createTask({ ...words, status: 'todo', estimate_hours: 2.5, assignee: 'alice', priority: 'high' });
  await server.createTask({ title: 'Its tests', parent_id: 'T-0001', status: 'todo', labels: ['tests'] });
  await server.createTask({
    title: 'Ship it',
    workflow: 'pipeline',
    project: 'release',
    depends_on: ['T-0001', 'T-0002'],
  });
  await server.createTask({ title: 'Wait for a license', status: 'todo', priority: 'critical' });
  await server.updateTask({ task_id: 'T-0004', status: 'blocked', blocked_reason: 'the owner is away' });
  await server.updateTask({ task_id: 'T-0003', status: 'GATHER', progress: 10 });
  await server.refusal('task_create', { title: '' });
}

async function makeSessions(server: TestServer): Promise<void> {
  await server.startSession({
    task_id: 'T-0001',
    auditor_id: 'auditor',
    reason: 'review before release',
    scope: 'deep',
  });
  await server.startSession({ task_id: 'T-0002', auditor_id: 'auditor' });
  await server.startSession({ task_id: 'T-0003', auditor_id: 'other auditor', reason: 'compliance', scope: 'deep' });
  await server.recordThought(FULL_THOUGHT);
  await server.recordThought({
    task_id: 'T-0002',
    session_id: 'A-0001',
    type: 'discovery',
    content: 'covered by the parent',
  });
  await server.recordThought({ task_id: 'T-0002', type: 'risk', content: 'in a session of its own' });
  await server.updateTask({ task_id: 'T-0002', status: 'in_progress', assignee: 'bob' });
  await server.createTask({ title: 'A child made later', parent_id: 'T-0003' });
  await server.recordThought({
    task_id: 'T-0003',
    type: 'blockers',
    content: 'sealed without its child',
    blockers: [],
  });
  await server.finalize({ session_id: 'A-0003', task_id: 'T-0003' });
  await server.finalize({ session_id: 'A-0002' });
}

/** Has every field of a thought. */
const FULL_THOUGHT = {
  task_id: 'T-0001',
  type: 'decision',
  content: 'Use a strict parser.',
  branch: 'feature/parser',
  commit_sha: 'a3f7d9b2c',
  tests_run: ['parser.test.ts'],
  blockers: ['a license'],
  metadata: { tokens: 1200, nested: { deep: [true, null, 'x'] } },
};

/** An enter without an exit, as a process leaves it that ends in the middle of a call. */
export async function leaveCall(path: string, name: string): Promise<void> {
  const database = await openFile(path);
  try {
    await openLedger(database, 'full-ledger', AT);
    const event = { tool: 'task_list', args: {}, timestamp: 0, correlationId: name, actor: 'full-ledger', at: AT };
    await new CallRecorder(database, processIdOf(name)).enter({ ...event, argumentsText: '{"limit":5}' });
  } finally {
    await database.close();
  }
}

export async function openFile(path: string): Promise<Database> {
  return openDatabase({ mode: 'FULL', ...(await databaseAt(path)), durability: 'relaxed', readOnly: false });
}

/** A short ledger with every kind of entry, every field of a content, and arguments that were cut. */
export async function buildRuleLedger(path: string): Promise<void> {
  await leaveCall(path, 'a-process-that-died');
  await buildFinishedLedger(path);
  await setReview(path, 'default', 'other');
  await observe(path);
  await addKeys(path);
  await leaveCall(path, 'a-process-that-runs');
}

/** The same where every call has ended, so that verification need not read row by row. */
export async function buildFinishedLedger(path: string): Promise<void> {
  const server = await openServer(path);
  try {
    await server.createTask({ title: 'Strict parser', status: 'todo', labels: ['red'], estimate_hours: 2.5 });
    await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', reason: 'a\nreview', scope: 'deep' });
    await server.createTask({ title: 'Its tests', parent_id: 'T-0001', status: 'todo' });
    await server.updateTask({ task_id: 'T-0002', progress: 10 });
    await server.startSession({ task_id: 'T-0002', auditor_id: 'auditor' });
    await server.recordThought(FULL_THOUGHT);
    await server.recordThought({
      task_id: 'T-0002',
      session_id: 'A-0001',
      type: 'discovery',
      content: 'two\nlines 字',
    });
    await server.recordThought({ task_id: 'T-0002', type: 'risk', content: 'x'.repeat(5000) });
    for (const status of ['in_progress', 'review', 'done']) await server.updateTask({ task_id: 'T-0002', status });
    const others = { project: 'other', workflow: 'pipeline', depends_on: ['T-0001'], description: '"'.repeat(5000) };
    await server.createTask({ title: 'Ship it', ...others });
    await server.startSession({ task_id: 'T-0003', auditor_id: 'auditor' });
    await server.recordThought({ task_id: 'T-0003', type: 'reflection', content: 'why' });
    await server.updateTask({ task_id: 'T-0003', status: 'GATHER' });
    await server.finalize({ session_id: 'A-0003', task_id: 'T-0003' });
    await server.finalize({ session_id: 'A-0002' });
    await server.createTask({ title: 'Wait for a license', status: 'todo', priority: 'critical' });
    await server.updateTask({ task_id: 'T-0004', status: 'blocked', blocked_reason: 'the owner is away' });
    await server.refusal('task_create', { title: '' });
  } finally {
    await server.close();
  }
}

/**
 * A ledger of two pages of verification in which every call has ended, one of them in another page than it began in,
 * with texts that JSON has to escape. Closed with the tests of the file.
 */
export async function openTwoPages(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-pages-'));
  const path = join(folder, 'colibri.db');
  const server = await openServer(path, 'tester "quoted" \u5b57');
  await server.createTask({ title: 'Strict parser', status: 'todo' });
  await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
  for (let number = 1; number <= 180; number += 1) {
    const content = number % 3 === 0 ? `line ${number}\n"quoted" \\ \u5b57 \u{1f426}` : `thought ${number}`;
    await server.recordThought({ task_id: 'T-0001', type: 'decision', content });
    if (number % 45 === 0) await server.updateTask({ task_id: 'T-0001', progress: number % 100 });
  }
  await server.finalize({ session_id: 'A-0001' });
  await server.close();
  const database = await openFile(path);
  afterAll(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
  return database;
}

/** An honest ledger of so many calls that a command can be met in the middle of its work on it. */
export async function createLargeLedger(path: string, calls: number): Promise<void> {
  const database = await openDatabase({ mode: 'FULL', dbPath: path, durability: 'relaxed', readOnly: false });
  await openLedger(database, 'filler', AT);
  const log = new CallRecorder(database, processIdOf('filler'));
  const argumentsText = JSON.stringify({ note: 'x'.repeat(500) });
  for (let count = 0; count < calls; count += 1) {
    const call = { tool: 'server_ping', actor: 'filler', at: AT, correlationId: String(count) };
    await log.enter({ ...call, args: {}, timestamp: 0, argumentsText });
    await log.exit({ ...call, durationMs: 0, outcome: 'ok', answerText: '' });
  }
  await database.close();
}

/** The schema of the ledgers that `makeOlder` makes. Its sessions list their thoughts as well. */
export const BEFORE_SESSION_EVENTS = 4;

/** An empty file with the tables of this version; it may be marked as another. */
export async function createFileOfVersion(path: string, version: number, mark = version): Promise<void> {
  const scripts = MIGRATIONS.slice(0, version).map((migration) => migration.sqlite);
  await tamper(
    path,
    `PRAGMA journal_mode = WAL; ${scripts.join('')}; PRAGMA application_id = 0x436f6c69; PRAGMA user_version = ${mark}`,
  );
}

/** The same for an empty database behind the port. */
export async function createVersion(database: Database, version: number): Promise<void> {
  await database.write({ durable: false }, async (transaction) => {
    await createTables(transaction, 0, version);
    await transaction.setSchemaVersion(version);
  });
}

/** Makes a ledger of an older schema of one of today, and closes it. */
export async function makeOlder(database: Database, forgery = ''): Promise<void> {
  await removeClaims(database);
  await database.write({ durable: false }, async (transaction) => {
    const { engine } = transaction;
    const current = await transaction.query<TaskRow>('SELECT * FROM tasks');
    const earlier = await transaction.query<StoredVersion>('SELECT * FROM task_versions');
    await transaction.run(withOldTasks(engine));
    for (const { idx, task_no, salt, content } of [...earlier, ...current.map(currentVersion)])
      transaction.send('INSERT INTO task_events VALUES ($1, $2, $3, $4)', [idx, task_no, salt, content]);
    for (const script of [withOldCalls(engine), withOldSessions(engine), NEWER_TABLES, forgery])
      if (script !== '') await transaction.run(script);
    await transaction.setSchemaVersion(BEFORE_SESSION_EVENTS);
  });
  await database.close();
}

const NEWER_TABLES =
  'DROP TABLE project_options; DROP TABLE observations; DROP TABLE observed_sessions; DROP TABLE ledger_keys; DROP TABLE redactions; DROP TABLE task_unmet';

function withOldTasks(engine: Engine): string {
  const time = (column: string) =>
    engine === 'postgres'
      ? `to_char(to_timestamp(${column} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : `strftime('%Y-%m-%dT%H:%M:%S', ${column} / 1000, 'unixepoch') || printf('.%03dZ', ${column} % 1000)`;
  const script = MIGRATIONS[1]?.[engine] ?? '';
  const indexes = [...script.matchAll(/CREATE INDEX (tasks_\w+)[^;]*;/g)];
  return `
    DROP VIEW task_waits; ${indexes.map(([, name]) => `DROP INDEX IF EXISTS ${name};`).join(' ')}
    ALTER TABLE tasks RENAME TO newer_tasks;
    ${engine === 'postgres' ? 'ALTER INDEX tasks_pkey RENAME TO newer_tasks_pkey;' : ''}
    ${definitionOf(engine, 2, 'TABLE tasks')};
    INSERT INTO tasks SELECT task_no, event_idx, project, sequence, workflow, status, is_open,
      CASE is_ready WHEN 2 THEN 1 ELSE is_ready END, title, description, priority, progress, assignee, labels, estimate_hours, parent_no, depends_on, blocked_reason, attempt,
      ${time('created_at')}, created_by, ${time('updated_at')}, updated_by FROM newer_tasks ORDER BY task_no;
    DROP TABLE newer_tasks; DROP TABLE task_versions;
    ${indexes.map(([definition]) => definition).join(' ')}
    ${definitionOf(engine, 2, 'TABLE task_events')};
    ${definitionOf(engine, 2, 'VIEW task_waits')};`;
}

function withOldCalls(engine: Engine): string {
  const old = (definition: string) => definitionOf(engine, 1, definition);
  const onPostgres = (script: string) => (engine === 'postgres' ? script : '');
  const kind = engine === 'postgres' ? "CAST(entry AS JSONB) ->> 'kind'" : "entry ->> 'kind'";
  return `
    CREATE TABLE newer_calls AS SELECT * FROM calls;
    DROP VIEW actions; DROP VIEW calls; DROP TABLE presence; DROP TABLE call_exits;
    ALTER TABLE ledger_entries RENAME TO newer_entries;
    ${onPostgres('ALTER INDEX ledger_entries_pkey RENAME TO newer_entries_pkey;')}
    ${old('TABLE ledger_entries')};
    INSERT INTO ledger_entries SELECT idx, ${kind}, entry FROM newer_entries ORDER BY idx;
    ${old('TABLE calls')};
    ${old('INDEX calls_open')};
    INSERT INTO calls SELECT sequence_no, tool, actor, process_id, entered_at, arguments, salt, exit_idx, exited_at,
      outcome, duration_ms FROM newer_calls ORDER BY sequence_no;
    DROP TABLE newer_calls; DROP TABLE newer_entries;
    ${old('VIEW actions')};`;
}

function withOldSessions(engine: Engine): string {
  return `
    ${definitionOf(engine, BEFORE_SESSION_EVENTS, 'TABLE session_records')};
    INSERT INTO session_records SELECT session_no, session_seq, idx FROM thoughts
      UNION ALL SELECT session_no, session_seq, idx FROM session_events;
    DROP TABLE session_events;`;
}

function definitionOf(engine: Engine, version: number, name: string): string {
  const script = MIGRATIONS[version - 1]?.[engine] ?? '';
  return new RegExp(`CREATE ${name}\\b[^;]*`).exec(script)?.[0] ?? '';
}
