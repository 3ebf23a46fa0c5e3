import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import type { Reader } from '../db/database.ts';
import { assertMigrated } from '../db/migrate.ts';
import { openDatabase } from '../db/open.ts';

/** Opens the ledger of the project around this folder, read-only, for as long as the work takes. */
export async function withLedger<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
  const database = await openDatabase({ ...projectConfig(), mode: 'READONLY', readOnly: true });
  try {
    // No look at the ends of the log, as servers take: a reader of a cut log is here to learn where it was cut.
    await assertMigrated(database);
    return await database.read(work);
  } finally {
    await database.close();
  }
}

/** The configuration, with the ledger of the nearest folder above that has one. */
export function projectConfig(): Config {
  const config = readConfig();
  return { ...config, dbPath: config.dbPath ?? nearestLedger(process.cwd()) };
}

function nearestLedger(start: string): string | undefined {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    const path = join(folder, '.colibri', 'colibri.db');
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) return undefined;
  }
}
