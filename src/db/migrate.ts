import { type Database, DatabaseError, type Transaction } from './database.ts';
import ledger from './migrations/0001-ledger.sql';
import tasks from './migrations/0002-tasks.sql';
import taskSearch from './migrations/0003-task-search.sqlite.sql';
import trail from './migrations/0004-trail.sql';

/** In order; the position is the number. An applied migration is never edited: a change is a new one. */
export const MIGRATIONS: readonly string[] = [ledger, tasks, taskSearch, trail];

export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Brings the database to this program's version. Several processes may do this at the same moment: the first one
 * migrates, the others find it done. `onCreated` runs in the transaction that made the first table.
 */
export async function migrate(
  database: Database,
  onCreated: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  if (assertKnown(database.location, await database.schemaVersion()) === SCHEMA_VERSION) return;
  await database.write({ durable: true }, async (transaction) => {
    const current = assertKnown(database.location, await transaction.schemaVersion());
    for (const migration of MIGRATIONS.slice(current)) await transaction.run(migration);
    await transaction.setSchemaVersion(SCHEMA_VERSION);
    if (current === 0) await onCreated(transaction);
  });
}

/** For those who may not migrate. */
export async function assertMigrated(database: Database): Promise<void> {
  const version = assertKnown(database.location, await database.schemaVersion());
  if (version === SCHEMA_VERSION) return;
  throw new DatabaseError(
    'unavailable',
    version === 0
      ? `${database.location} is empty; start Colibri once with COLIBRI_MODE=FULL to create the ledger`
      : `${database.location} has schema ${version}, this version needs ${SCHEMA_VERSION}; start Colibri once with COLIBRI_MODE=FULL to migrate it`,
  );
}

/** Refuses what a newer program wrote; returns the version otherwise. */
export function assertKnown(location: string, version: number): number {
  if (version <= SCHEMA_VERSION) return version;
  throw new DatabaseError(
    'unavailable',
    `${location} was written by a newer Colibri (schema ${version}, this version knows ${SCHEMA_VERSION}); update Colibri to use it`,
  );
}
