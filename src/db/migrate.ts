import { type Database, DatabaseError, type Engine, type Transaction } from './database.ts';
import ledger from './migrations/0001-ledger.sql';
import tasks from './migrations/0002-tasks.sql';
import postgresTaskSearch from './migrations/0003-task-search.postgres.sql';
import sqliteTaskSearch from './migrations/0003-task-search.sqlite.sql';
import trail from './migrations/0004-trail.sql';
import sessionEvents from './migrations/0005-session-events.sql';

/** In order; the position is the number. An applied migration is never edited: a change is a new one. */
export const MIGRATIONS: readonly Readonly<Record<Engine, string>>[] = [
  onBoth(ledger),
  onBoth(tasks),
  { sqlite: sqliteTaskSearch, postgres: postgresTaskSearch },
  onBoth(trail),
  onBoth(sessionEvents),
];

/**
 * Two types differ on PostgreSQL: SQLite's INTEGER has 64 bits, and its TEXT is ordered by bytes. (A BIGINT PRIMARY KEY
 * would cost SQLite a second index.)
 */
function onBoth(script: string): Record<Engine, string> {
  const postgres = script
    .replaceAll('INTEGER PRIMARY KEY', 'BIGINT PRIMARY KEY')
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"');
  return { sqlite: script, postgres };
}

/** The statements that make something which no later one takes away, without comments. */
export function listDefinitions(engine: Engine): string[] {
  const statements = MIGRATIONS.flatMap((migration) => migration[engine].replaceAll(/^--.*$/gm, '').split(';')).map(
    (statement) => statement.trim(),
  );
  const isTakenAway = (definition: string) =>
    statements.some((statement) => definition.startsWith(`${statement.replace(/^DROP /, 'CREATE ')} (`));
  return statements.filter((statement) => statement.startsWith('CREATE ') && !isTakenAway(statement));
}

export const SCHEMA_VERSION = MIGRATIONS.length;

/** A negative version marks an unfinished copy, which only `copy` may write to. */
export const UNFINISHED_VERSION = -SCHEMA_VERSION;

/**
 * Migrates the database to this program's version. If several processes start together, the first one migrates and the
 * others find it done. `onCreated` runs in the transaction that created the first table.
 */
export async function migrate(
  database: Database,
  onCreated: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  if (assertUsable(database.location, await database.schemaVersion()) === SCHEMA_VERSION) return;
  await database.write({ durable: true }, async (transaction) => {
    const current = assertUsable(database.location, await transaction.schemaVersion());
    await createTables(transaction, current);
    await transaction.setSchemaVersion(SCHEMA_VERSION);
    if (current === 0) await onCreated(transaction);
  });
}

/** Runs the migrations after `current`; the caller sets the schema version. */
export async function createTables(transaction: Transaction, current = 0): Promise<void> {
  for (const migration of MIGRATIONS.slice(current)) await transaction.run(migration[transaction.engine]);
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
  throw new DatabaseError('unavailable', `${database.location} is empty`, {
    advice: `start a server in FULL mode, the default, to create the ledger: ${START}`,
  });
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
        advice: 'run colibri copy with the same --to again to finish it',
      })
    : new DatabaseError('unavailable', `${location} is a copy that another version of Colibri has begun`, {
        advice: 'remove it, or finish it with that version',
      });
}
