import { expect } from 'vitest';
import type { Database, Reader, Row, SqlValue, Transaction } from '../../src/db/database.ts';
import { hasBuiltInSqlite } from '../../src/db/sqlite/driver.ts';
import { findSession } from '../../src/domains/trail/sessions.ts';
import { RecordCounter } from '../../src/verification/fast/record-counter.ts';
import type { Problem } from '../../src/verification/report.ts';
import { type ChainReport, verifySession, verifyTaskChain } from '../../src/verification/verify-chain.ts';
import { verifyEverything, verifyTables } from '../../src/verification/verify-ledger.ts';

/** Carries a result out of a transaction that must not be kept. */
class Undo extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super('undone on purpose');
  }
}

interface TamperOptions {
  readonly alsoTrail?: boolean;
  /** The forger changed the schema, for which alone verification would read no table: what would the tables tell? */
  readonly pastSchema?: boolean;
}

/** What verification says after a forger was at the file, and then puts the file back as it was. */
export async function afterTampering(
  database: Database,
  tamper: (transaction: Transaction) => Promise<void>,
  { alsoTrail = true, pastSchema = false }: TamperOptions = {},
): Promise<readonly Problem[]> {
  try {
    return await database.write({ durable: false }, async (transaction) => {
      if (transaction.engine === 'sqlite') await transaction.run('PRAGMA ignore_check_constraints = ON');
      // What a verification computes between two queries must not end the transaction on a busy machine.
      else await transaction.run('SET LOCAL idle_in_transaction_session_timeout = 0');
      await tamper(transaction);
      const reader = remembering(transaction);
      const verify = (useFastPath: boolean) =>
        pastSchema
          ? verifyTables(reader, undefined, { useFastPath })
          : verifyEverything(reader, undefined, { useFastPath });
      const { problems } = await verify(true);
      // The fast path must not find less than the reference.
      const reference = await verify(false);
      expect(reference.fast).toEqual({ pages: 0, entries: 0 });
      expect(problems).toEqual(reference.problems);
      if (alsoTrail && transaction.engine === 'sqlite')
        expect(await verifyTrail(transaction, true)).toEqual(await verifyTrail(transaction, false));
      throw new Undo(problems);
    });
  } catch (error) {
    if (error instanceof Undo) return error.problems;
    throw error;
  }
}

/**
 * Queries the schema and the pages of the file once for both verifications. `queryStored` reads the tables on
 * every run.
 */
function remembering(reader: Reader): Reader {
  const answers = new Map<string, Promise<Row[]>>();
  return {
    engine: reader.engine,
    queryStored: (sql, parameters) => reader.queryStored(sql, parameters),
    query: <Shape = Row>(sql: string, parameters: readonly SqlValue[] = []) => {
      if (!/^\s*(?:SELECT|PRAGMA)\b/.test(sql)) return reader.query<Shape>(sql, parameters);
      const question = JSON.stringify([sql, parameters]);
      const answer = answers.get(question) ?? reader.query(sql, parameters);
      answers.set(question, answer);
      return answer as Promise<Shape[]>;
    },
  };
}

/** What audit_verify_chain would say about the first task and the first session. Without a head it cannot be asked. */
async function verifyTrail(reader: Reader, useFastPath: boolean): Promise<readonly Omit<ChainReport, 'proven'>[]> {
  const heads = await reader.query('SELECT 1 FROM ledger_head WHERE id = 1');
  if (heads.length === 0) return [];
  const options = { withTrace: true, progress: () => undefined, useFastPath, recordCounter: new RecordCounter() };
  const reports = [await verifyTaskChain(reader, 1, options)];
  const session = await findSession(reader, 'A-0001');
  if (session !== undefined) reports.push(await verifySession(reader, session, options));
  return reports.map(({ proven: _proven, ...report }) => report);
}

export interface Column {
  readonly table: string;
  readonly column: string;
  readonly isKey: boolean;
}

interface ColumnInfo {
  readonly name: string;
  readonly pk: number;
}

/** Every column of every table, read from the schema of the file, so that a new one is tested too. */
export async function listColumns(database: Database): Promise<Column[]> {
  return database.read(async (reader) => {
    const tables = await reader.query<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
    );
    const columns: Column[] = [];
    for (const { name: table } of tables) {
      for (const { name, pk } of await reader.query<ColumnInfo>(`PRAGMA table_info('${table}')`))
        columns.push({ table, column: name, isKey: pk > 0 });
    }
    return columns;
  });
}

/** How the place of a problem in each table is named. A table that is missing here is not checked. */
export const PLACES: Readonly<Record<string, RegExp>> = {
  call_exits: /^(call \d+|call_exits)$/,
  counters: /^counter .+$/,
  ledger_entries: /^(entry \d+|call \d+|ledger_entries)$/,
  ledger_head: /^(ledger_head|ledger_entries|entry \d+)$/,
  ledger_keys: /^(entry \d+|ledger_keys)$/,
  ledger_nodes: /^(node \d+\/\d+|ledger_nodes)$/,
  observations: /^(entry \d+|observations)$/,
  observed_sessions: /^observed_sessions$/,
  presence: /^(call \d+|presence)$/,
  project_options: /^(entry \d+|project_options)$/,
  redactions: /^(entry \d+|call \d+|redactions)$/,
  session_events: /^(A-\d+ record \d+|A-\d+|session_events)$/,
  sessions: /^(A-\d+|sessions)$/,
  task_counts: /^task_counts$/,
  task_dependencies: /^(T-\d+|task_dependencies)$/,
  task_labels: /^(T-\d+|task_labels)$/,
  task_search_config: /^task_search/,
  task_search_data: /^task_search/,
  task_search_docsize: /^task_search/,
  task_search_idx: /^task_search/,
  task_unmet: /^(T-\d+|task_unmet)$/,
  task_versions: /^(task event \d+|task_versions)$/,
  tasks: /^(T-\d+|tasks)$/,
  thoughts: /^(\p{L}-\d+|thoughts)$/u,
};

/**
 * Runs SQL on a file as a forger does, who minds no rule of the program: also on the inner tables of the search index.
 */
export async function tamperFile(path: string, sql: string): Promise<void> {
  const file = await openRaw(path);
  try {
    file.exec(`PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON; ${sql}`);
  } finally {
    file.close();
  }
}

export interface RawFile {
  exec(sql: string): unknown;
  prepare(sql: string): { all(): unknown[] };
  close(): unknown;
}

async function openRaw(path: string): Promise<RawFile> {
  if (hasBuiltInSqlite(process.versions.node)) {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
      DatabaseSync: new (path: string, options: { defensive: boolean }) => RawFile;
    };
    return new DatabaseSync(path, { defensive: false });
  }
  const { openBetterSqlite } = await import('../../src/db/sqlite/better-sqlite3.ts');
  return openBetterSqlite(path).unsafeMode(true);
}

/**
 * A connection on which every column takes a value of any type, while the file says what it always said: the schema is
 * stored without types, loaded, and stored as it was.
 */
export async function openWithoutTypes(path: string): Promise<RawFile> {
  const file = await openRaw(path);
  file.exec('PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON');
  const tables = file
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'task_search%'")
    .all() as { name: string; sql: string }[];
  const store = (name: string, sql: string) =>
    file.exec(`UPDATE sqlite_schema SET sql = '${sql.replaceAll("'", "''")}' WHERE name = '${name}'`);
  for (const { name, sql } of tables) store(name, withoutTypes(sql));
  file.exec('PRAGMA writable_schema = RESET; PRAGMA writable_schema = ON');
  for (const { name, sql } of tables) store(name, sql);
  return file;
}

/**
 * Leaves only what the layout of the file depends on: the alias of the rowid and the keys with an index of their own.
 */
function withoutTypes(sql: string): string {
  return sql
    .replaceAll(/(\w+) +(?:INTEGER|BIGINT|TEXT|DOUBLE PRECISION)(?: NOT NULL)?(?=[,\n)])/g, '$1')
    .replaceAll(/(\w+) +TEXT PRIMARY KEY/g, '$1 PRIMARY KEY');
}
