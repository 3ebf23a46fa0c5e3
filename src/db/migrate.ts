import { type Database, DatabaseError, type Engine, type Transaction } from './database.ts';
import ledger from './migrations/0001-ledger.sql';
import tasks from './migrations/0002-tasks.sql';
import postgresTaskSearch from './migrations/0003-task-search.postgres.sql';
import sqliteTaskSearch from './migrations/0003-task-search.sqlite.sql';
import trail from './migrations/0004-trail.sql';
import sessionEvents from './migrations/0005-session-events.sql';
import postgresOnePlace from './migrations/0006-one-place.postgres.sql';
import onePlace from './migrations/0006-one-place.sql';
import sqliteOnePlace from './migrations/0006-one-place.sqlite.sql';
import claims from './migrations/0007-claims.sql';
import projects from './migrations/0008-projects.sql';
import observations from './migrations/0009-observations.sql';
import sessionReports from './migrations/0010-session-reports.sql';
import keys from './migrations/0011-keys.sql';
import openCalls from './migrations/0012-open-calls.sql';
import redactions from './migrations/0013-redactions.sql';
import unmetLinks from './migrations/0014-unmet-links.sql';

/** In order; the position is the number. An applied migration is never edited: a change is a new one. */
export const MIGRATIONS: readonly Readonly<Record<Engine, string>>[] = [
  onBoth(ledger),
  onBoth(tasks),
  { sqlite: sqliteTaskSearch, postgres: postgresTaskSearch },
  onBoth(trail),
  onBoth(sessionEvents),
  { sqlite: onBoth(onePlace).sqlite + sqliteOnePlace, postgres: onBoth(onePlace).postgres + postgresOnePlace },
  onBoth(claims),
  onBoth(projects),
  onBoth(observations),
  onBoth(sessionReports),
  onBoth(keys),
  onBoth(openCalls),
  onBoth(redactions),
  onBoth(unmetLinks),
];

/**
 * Translates what the engines spell differently: an INTEGER PRIMARY KEY of SQLite has 64 bits, its TEXT is ordered by
 * bytes, and EPOCH_MS(text) is a time as milliseconds. (A BIGINT PRIMARY KEY would cost SQLite a second index.)
 */
function onBoth(script: string): Record<Engine, string> {
  const epochMs = /EPOCH_MS\((\w+)\)/g;
  const postgres = script
    .replaceAll('INTEGER PRIMARY KEY', 'BIGINT PRIMARY KEY')
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replaceAll(epochMs, 'CAST(EXTRACT(EPOCH FROM CAST($1 AS TIMESTAMPTZ)) * 1000 AS BIGINT)');
  // A text that is not a time, which only tampering stores, becomes a time that no entry has.
  const sqlite = script.replaceAll(epochMs, 'COALESCE(unixepoch($1) * 1000 + CAST(substr($1, 21, 3) AS INTEGER), -1)');
  return { sqlite, postgres };
}

/** The definitions that the schema of today consists of: created, and not dropped later. */
export function listDefinitions(engine: Engine): string[] {
  const definitions = new Map<string, string>();
  for (const statement of MIGRATIONS.flatMap((migration) => listStatements(migration[engine]))) {
    const [, verb, name = ''] = /^(CREATE|DROP) (?:[A-Z]+ )*(\w+)/.exec(statement) ?? [];
    const [, from = '', to = ''] = /^ALTER TABLE (\w+) RENAME TO (\w+)/.exec(statement) ?? [];
    if (verb === 'CREATE') definitions.set(name, statement);
    if (verb === 'DROP') definitions.delete(name);
    if (verb === 'DROP')
      for (const [other, definition] of definitions)
        if (definition.includes(` ON ${name} (`)) definitions.delete(other);
    if (from !== '') definitions.set(to, (definitions.get(from) ?? '').replace(from, to));
    if (from !== '') definitions.delete(from);
    const [, table = '', column] = /^ALTER TABLE (\w+) ADD COLUMN (.+)/.exec(statement) ?? [];
    if (column !== undefined)
      definitions.set(table, (definitions.get(table) ?? '').replace(/\n\)$/, `,\n  ${column}\n)`));
  }
  return [...definitions.values()];
}

function listStatements(script: string): string[] {
  const statements = script.replaceAll(/^--.*$/gm, '').split(';');
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}

export const SCHEMA_VERSION = MIGRATIONS.length;

/** A negative version marks an unfinished copy, which only `copy` may write to. */
export const UNFINISHED_VERSION = -SCHEMA_VERSION;

export type MigrationProgress = (done: number, total: number) => void;

/**
 * Brings the database to this program's version, in one transaction. Several processes may do this at the same moment:
 * the first one migrates, the others find it done. `onCreated` runs in the transaction that made the first table.
 */
export async function migrate(
  database: Database,
  onCreated: (transaction: Transaction) => Promise<void>,
  progress: MigrationProgress = () => undefined,
): Promise<void> {
  if (assertUsable(database.location, await database.schemaVersion()) === SCHEMA_VERSION) return;
  await retryDeadlock(() =>
    database.write({ durable: true }, async (transaction) => {
      const current = assertUsable(database.location, await transaction.schemaVersion());
      await createTables(transaction, current, SCHEMA_VERSION, progress);
      await transaction.setSchemaVersion(SCHEMA_VERSION);
      if (current === 0) await onCreated(transaction);
    }),
  );
}

/** Attempts are one second apart, like the default deadlock_timeout of PostgreSQL. */
const MAX_ATTEMPTS = 5;

/** A process that checks the schema and one that migrates it lock the tables in different orders. */
export async function retryDeadlock<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work();
    } catch (error) {
      const isDeadlock = error instanceof DatabaseError && error.fault === 'busy' && error.message.includes('deadlock');
      if (!isDeadlock || attempt === MAX_ATTEMPTS) throw error;
    }
}

/** Runs the migrations after `current` up to `version`; the caller marks the schema with its version. */
export async function createTables(
  transaction: Transaction,
  current = 0,
  version = SCHEMA_VERSION,
  progress: MigrationProgress = () => undefined,
): Promise<void> {
  const statements = MIGRATIONS.slice(current, version).flatMap((migration) =>
    listStatements(migration[transaction.engine]),
  );
  const ranged = statements.filter(isRanged).length;
  let done = 0;
  for (const statement of statements) {
    if (!isRanged(statement)) await transaction.run(statement);
    else {
      const before = done;
      await runInRanges(transaction, statement, (part, whole) => progress(before * whole + part, ranged * whole));
      done += 1;
    }
  }
}

/** A statement that moves the rows of the entries from $1 to $2 (exclusive). */
function isRanged(statement: string): boolean {
  return statement.includes('$1') && statement.includes('$2');
}

/** Large enough that a range costs no more than its rows, small enough for a progress bar that moves. */
const ENTRIES_AT_ONCE = 50_000;

/** Read as text, because a JavaScript number is not exact in this range. */
const SMALLEST = '-9223372036854775808';
const GREATEST = '9223372036854775807';
/** The greatest number of JavaScript below it. */
const LAST_EXACT = 2 ** 63 - 1024;

/** The ranges include all numbers, also those that only forged rows have: verification reports them. */
async function runInRanges(transaction: Transaction, statement: string, progress: MigrationProgress): Promise<void> {
  // Two queries in one: SQLite would scan the table for both ends together.
  const [ends] = await transaction.query<{ first: number | null; last: number | null }>(
    'SELECT (SELECT MIN(idx) FROM ledger_entries) AS first, (SELECT MAX(idx) FROM ledger_entries) AS last',
  );
  const { first = null, last = null } = ends ?? {};
  if (first === null || last === null) return;
  for (let begin = first, isLast = false; !isLast; ) {
    const [behind] = await transaction.query<{ next: number | null }>(
      'SELECT MIN(idx) AS next FROM ledger_entries WHERE idx >= $1',
      [Math.min(begin + ENTRIES_AT_ONCE, LAST_EXACT)],
    );
    // The next entry and not a number: a forged one must not determine how many ranges there are.
    const next = behind?.next ?? begin;
    isLast = next <= begin || next > LAST_EXACT;
    const range = isLast ? statement.replaceAll('< $2', '<= $2') : statement;
    await transaction.query(range, [begin === first ? SMALLEST : begin, isLast ? GREATEST : next]);
    progress(isLast ? last + 1 - first : next - first, last + 1 - first);
    begin = next;
  }
}

/** For callers that must not migrate. */
export async function assertMigrated(database: Database): Promise<void> {
  const version = await assertCreated(database);
  if (version !== SCHEMA_VERSION) throw outdatedError(database.location, version);
}

/** For callers that can read an older ledger; returns its version. */
export async function assertCreated(database: Database): Promise<number> {
  const version = assertUsable(database.location, await database.schemaVersion());
  if (version > 0) return version;
  throw new EmptyLedger(database.location);
}

/** The file or schema exists, but no server has created the tables yet. */
export class EmptyLedger extends DatabaseError {
  constructor(location: string) {
    super('unavailable', `${location} is empty`, {
      advice: `start a server in FULL mode, the default, to create the ledger: ${START}`,
    });
  }
}

/** Commands, and servers that only read, neither create nor migrate a ledger. */
const START = 'colibri serve < /dev/null';

export function outdatedError(location: string, version: number): DatabaseError {
  return new DatabaseError('unavailable', `${location} has schema ${version}, this version needs ${SCHEMA_VERSION}`, {
    advice: `start a server in FULL mode, the default, to migrate it: ${START}`,
  });
}

/** Refuses what a newer program wrote; returns the version otherwise. */
export function assertKnown(location: string, version: number): number {
  if (version <= SCHEMA_VERSION) return version;
  throw new DatabaseError(
    'refused',
    `${location} was written by a newer Colibri (schema ${version}, this version knows ${SCHEMA_VERSION})`,
    { advice: 'update Colibri to use it' },
  );
}

/** Refuses what a newer program wrote, and an unfinished copy; returns the version otherwise. */
export function assertUsable(location: string, version: number): number {
  if (version >= 0) return assertKnown(location, version);
  throw unfinishedError(location, version);
}

export function unfinishedError(location: string, version: number): DatabaseError {
  return version === UNFINISHED_VERSION
    ? new DatabaseError('unavailable', `${location} is a copy that is not finished`, {
        advice:
          'run colibri copy with the same --to again to finish it, or restore a backup if you have copied nothing to it: then another program has set this mark',
      })
    : new DatabaseError('unavailable', `${location} is a copy that another version of Colibri has begun`, {
        advice: 'remove it, or finish it with that version',
      });
}
