import type { Database } from '../../src/db/database.ts';
import { MIGRATIONS } from '../../src/db/migrate.ts';

/** The schema in which sessions listed their thoughts as well. */
const BEFORE_SESSION_EVENTS = 4;

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
