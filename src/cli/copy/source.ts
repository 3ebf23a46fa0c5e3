import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { copyOldTables } from '../../copy/old-tables.ts';
import type { Database } from '../../db/database.ts';
import { assertCreated, migrate, SCHEMA_VERSION } from '../../db/migrate.ts';
import { copySqlite } from '../../db/sqlite/files/copy.ts';
import { indexPending } from '../../domains/tasks/search.ts';
import { openDatabase } from '../../trust/open-database.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { withProgress } from '../support/progress-bar.ts';
import { withDatabase } from '../support/with-ledger.ts';

export type CopiedLedger = Pick<Database, 'engine' | 'location' | 'read'>;

/** What `copy` reads. */
export interface Source {
  /** The location as the user named it. */
  readonly ledger: CopiedLedger;
  /** The schema version of that ledger. */
  readonly version: number;
  /** The ledger itself or, if an older version wrote it, a private copy with the schema of this version. */
  readonly current: CopiedLedger;
}

/**
 * Opens the ledger for reading. A ledger of an older version is migrated in a private copy, and is not changed itself.
 */
export function withSource<Result>(config: Config, work: (source: Source) => Promise<Result>): Promise<Result> {
  let version = 0;
  return withDatabase(
    config,
    (ledger) => {
      if (version === SCHEMA_VERSION) return work({ ledger, version, current: ledger });
      const folder = mkdtempSync(join(tmpdir(), 'colibri-copy-'));
      return withCleanUp(
        () => rmSync(folder, { recursive: true, force: true }),
        async () => {
          const copy = await openMigratedCopy(ledger, version, join(folder, 'colibri.db'));
          try {
            const read: Database['read'] = (reading) => copy.read(reading);
            return await work({ ledger, version, current: { engine: copy.engine, location: ledger.location, read } });
          } finally {
            await copy.close();
          }
        },
      );
    },
    async (database) => {
      version = await assertCreated(database);
    },
  );
}

async function openMigratedCopy(ledger: CopiedLedger, version: number, path: string): Promise<Database> {
  if (ledger.engine === 'sqlite') await copySqlite(ledger.location, path);
  const copy = await openDatabase({ mode: 'FULL', durability: 'relaxed', dbPath: path, readOnly: false });
  try {
    if (ledger.engine === 'postgres') await ledger.read((reader) => copyOldTables(reader, copy, version));
    await withProgress('migrating a copy', (update) => migrate(copy, () => Promise.resolve(), update));
    // The words of a task are not copied between engines.
    while (await copy.write({ durable: false }, indexPending));
    return copy;
  } catch (error) {
    await copy.close();
    throw error;
  }
}
