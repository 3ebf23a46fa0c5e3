import { type Database, DatabaseError, type Reader, type Transaction } from '../db/database.ts';
import {
  assertKnown,
  createTables,
  migrate,
  SCHEMA_VERSION,
  UNFINISHED_VERSION,
  unfinishedError,
} from '../db/migrate.ts';

/** What a copy finds where it is to go. */
export interface Target {
  readonly state: 'empty' | 'unfinished' | 'outdated' | 'finished';
  /** How many entries are there; its head may say less while it is unfinished. */
  readonly size: number;
}

export async function readTarget(database: Database): Promise<Target> {
  const version = assertKnown(database.location, await database.schemaVersion());
  if (version === 0) return { state: 'empty', size: 0 };
  if (version > 0) {
    const size = await database.read(countEntries);
    if (version !== SCHEMA_VERSION && size === 0) throw emptyError(database.location, version);
    return { state: version === SCHEMA_VERSION ? 'finished' : 'outdated', size };
  }
  if (version !== UNFINISHED_VERSION) throw unfinishedError(database.location, version);
  // In turn: PostgreSQL may still be working off what a copy that was killed has sent.
  return { state: 'unfinished', size: await database.write({ durable: false }, countEntries) };
}

/** Brings an older copy, whose log is a prefix of the source, to the schema of this version. */
export async function migrateTarget(
  database: Database,
  found: Target,
  progress: (done: number, total: number) => void,
): Promise<Target> {
  await migrate(database, () => Promise.resolve(), progress);
  return { ...found, state: 'finished' };
}

/** Creates missing tables. From here on only a copy may use the target. */
export async function markUnfinished(database: Database, { state, size }: Target): Promise<void> {
  if (state === 'outdated') throw new Error('an outdated target is migrated first');
  await database.write({ durable: true }, async (transaction) => {
    const expected = { empty: 0, unfinished: UNFINISHED_VERSION, finished: SCHEMA_VERSION }[state];
    const version = await transaction.schemaVersion();
    if (version !== expected || (version !== 0 && (await countEntries(transaction)) !== size))
      throw changed(database.location);
    if (version === 0) await createTables(transaction);
    await transaction.setSchemaVersion(UNFINISHED_VERSION);
  });
}

/** Call it in every transaction that writes to the target: another copy may be running. */
export async function assertUntouched(database: Database, transaction: Transaction, size: number): Promise<void> {
  const isUnfinished = (await transaction.schemaVersion()) === UNFINISHED_VERSION;
  if (!isUnfinished || (await countEntries(transaction)) !== size) throw changed(database.location);
}

/** From here on it is a ledger like any other, unless the check, which sees it as one, throws. */
export async function markFinished(
  database: Database,
  size: number,
  check: (reader: Reader) => Promise<void>,
): Promise<void> {
  await database.write({ durable: true }, async (transaction) => {
    await assertUntouched(database, transaction, size);
    await transaction.setSchemaVersion(SCHEMA_VERSION);
    await check(transaction);
  });
}

async function countEntries(reader: Reader): Promise<number> {
  const [row] = await reader.query<{ last: number | null }>('SELECT MAX(idx) AS last FROM ledger_entries');
  return (row?.last ?? -1) + 1;
}

function changed(location: string): DatabaseError {
  return new DatabaseError('busy', `another program writes to ${location} as well`, {
    advice: 'try again when it has ended',
  });
}

function emptyError(location: string, version: number): DatabaseError {
  return new DatabaseError('unavailable', `${location} has schema ${version} and no entries`, {
    advice: 'choose another target with --to',
  });
}
