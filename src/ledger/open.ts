import { randomUUID } from 'node:crypto';
import { type Database, DatabaseError, type Transaction } from '../db/database.ts';
import { assertMigrated, type MigrationProgress, migrate } from '../db/migrate.ts';
import { parseEntry } from '../integrity/index.ts';
import { append } from './append.ts';
import { readHead } from './head.ts';

/** Creates the tables and the first entry where there are none, then looks at both ends of the log. */
export async function openLedger(
  database: Database,
  actor: string,
  at: string,
  progress?: MigrationProgress,
): Promise<void> {
  const begin = async (transaction: Transaction) => {
    await append(transaction, { v: 1, kind: 'genesis', at, actor, ledger_id: randomUUID() });
  };
  await migrate(database, begin, progress);
  await checkEnds(database);
}

export async function openLedgerReadOnly(database: Database): Promise<void> {
  await assertMigrated(database);
  await checkEnds(database);
}

/**
 * Quick at any size: finds a log that is cut, has grown behind the head, or misses a stored node. Verify finds the
 * rest.
 */
async function checkEnds(database: Database): Promise<void> {
  await database.read(async (reader) => {
    const { size } = await readHead(reader);
    const rows = await reader.query<{ idx: number; entry: string }>(
      'SELECT idx, entry FROM ledger_entries WHERE idx = 0 OR idx >= $1 ORDER BY idx LIMIT 3',
      [size - 1],
    );
    const first = rows[0] && parseEntry(rows[0].entry);
    const last = rows.at(-1);
    if (first?.kind === 'genesis' && last?.idx === size - 1 && parseEntry(last.entry) !== undefined) return;
    throw new DatabaseError('corrupt', `${database.location}: the log does not match its head`, {
      advice: 'restore a backup',
    });
  });
}
