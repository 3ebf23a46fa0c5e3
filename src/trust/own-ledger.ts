import { existsSync, realpathSync } from 'node:fs';
import { type Config, locateDatabase } from '../config.ts';
import type { Database } from '../db/database.ts';
import { storeAcceptance } from './acceptance.ts';
import { readIdentity } from './ledger-identity.ts';
import { listConcerns } from './list-concerns.ts';

/** Whether a server with this configuration is about to create the ledger of a project. */
export function isYetToBeMade(config: Config): boolean {
  const { dbPath, databaseUrl, mode } = config;
  return mode === 'FULL' && dbPath === undefined && databaseUrl === undefined && !existsSync(locateDatabase(config));
}

/**
 * Accepts a ledger that Colibri has just created or restored. Otherwise it would be refused as foreign on a file system
 * without permissions, or at the path of a tracked file.
 */
export async function acceptOwnLedger(database: Pick<Database, 'location' | 'read'>, at: string): Promise<void> {
  if (listConcerns(database.location).length === 0) return;
  const identity = await database.read((reader) => readIdentity(reader));
  if (identity === undefined) return;
  try {
    storeAcceptance({ ...identity, path: realpathSync(database.location), acceptedAt: at });
  } catch {
    // The ledger works without it; the next start reports what to do.
  }
}
