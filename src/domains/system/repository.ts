import { type Database, DatabaseError, type DatabaseFault } from '../../db/database.ts';
import { toError } from '../../errors.ts';
import { readHead } from '../../ledger/head.ts';
import { countLiveAgents } from '../../ledger/presence/list-agents.ts';
import type { LedgerFacts } from './health.ts';

/** A second attempt would wait for the database server as long as the first did. */
const UNREACHABLE: ReadonlySet<DatabaseFault> = new Set(['lost', 'unknown', 'unavailable']);

/** Never throws: an unreadable database is part of a health report. `fault` is why the call was not recorded. */
export async function readLedgerFacts(
  database: Database | undefined,
  fault: unknown,
  findEarlierBackup: (database: Database) => Promise<string | undefined>,
): Promise<LedgerFacts> {
  if (database === undefined) return undefined;
  const { engine } = database;
  const isUnreachable = engine === 'postgres' && fault instanceof DatabaseError && UNREACHABLE.has(fault.fault);
  if (isUnreachable) return { engine, error: fault };
  try {
    const schemaVersion = await database.schemaVersion();
    const durability = await database.durability();
    const read = await database.read(async (reader) => ({
      ...(await readHead(reader)),
      liveAgents: await countLiveAgents(reader, database),
    }));
    const earlierBackup = await findEarlierBackup(database);
    return { engine, schemaVersion, durability, earlierBackup, ...read };
  } catch (thrown) {
    return { engine, error: toError(thrown) };
  }
}
