import type { Database } from '../../src/db/database.ts';
import { MIGRATIONS } from '../../src/db/migrate.ts';
import { tamper } from './database.ts';

/** The schema in which sessions listed their thoughts as well. */
const BEFORE_SESSION_EVENTS = 4;

/** An empty file with the tables of this version; it may be marked as another. */
export async function createFileOfVersion(path: string, version: number, mark = version): Promise<void> {
  const scripts = MIGRATIONS.slice(0, version).map((migration) => migration.sqlite);
  await tamper(
    path,
    `PRAGMA journal_mode = WAL; ${scripts.join('')}; PRAGMA application_id = 0x436f6c69; PRAGMA user_version = ${mark}`,
  );
}

/** The same for an empty database behind the port. */
export async function createVersion(database: Database, version: number): Promise<void> {
  await database.write({ durable: false }, async (transaction) => {
    for (const migration of MIGRATIONS.slice(0, version)) await transaction.run(migration[transaction.engine]);
    await transaction.setSchemaVersion(version);
  });
}

/** Makes a ledger of an older schema of one of today, and closes it. */
export async function makeOlder(database: Database, forgery = ''): Promise<void> {
  await database.write({ durable: false }, async (transaction) => {
    const [table = ''] =
      /CREATE TABLE session_records[^;]*/.exec(MIGRATIONS[BEFORE_SESSION_EVENTS - 1]?.[transaction.engine] ?? '') ?? [];
    await transaction.run(
      `${table};
       INSERT INTO session_records SELECT session_no, session_seq, idx FROM thoughts
         UNION ALL SELECT session_no, session_seq, idx FROM session_events;
       DROP TABLE session_events`,
    );
    if (forgery !== '') await transaction.run(forgery);
    await transaction.setSchemaVersion(BEFORE_SESSION_EVENTS);
  });
  await database.close();
}
