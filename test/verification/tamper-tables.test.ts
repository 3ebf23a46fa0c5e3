import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { beforeEachStatement } from '../../src/db/before-each-statement.ts';
import { DatabaseError, type Engine, type Reader } from '../../src/db/database.ts';
import { verifyEverything, verifyRecord } from '../../src/verification/verify-ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, openFile } from '../support/sample-ledgers.ts';
import { withFolder } from '../support/test-server.ts';

const FORGERIES: Readonly<Record<string, readonly [sql: string, place: string]>> = {
  'a table': ['DROP TABLE session_events', 'session_events'],
  'a table under its name': ['ALTER TABLE thoughts RENAME TO ideas', 'thoughts'],
  'the head': ['DROP TABLE ledger_head', 'ledger_head'],
  'a column': ['ALTER TABLE thoughts DROP COLUMN attempt', 'thoughts'],
  'a column under its name': ['ALTER TABLE tasks RENAME COLUMN title TO name', 'tasks'],
};

/** A changed version, which leaves the tables safe to read. */
const OLDER = { sqlite: 'PRAGMA user_version = 3', postgres: 'UPDATE colibri SET schema_version = 3' };
const OLDER_PLACE = { sqlite: 'user_version', postgres: 'colibri' };

/** Runs the work on a ledger that was changed like this. */
function withForged(
  sql: string | Readonly<Record<Engine, string>>,
  work: (reader: Reader) => Promise<void>,
): Promise<void> {
  return withFolder(async (folder) => {
    const path = join(folder, 'colibri.db');
    await buildFullLedger(path);
    const database = await openFile(path);
    try {
      await database.write({ durable: false }, (transaction) =>
        transaction.run(typeof sql === 'string' ? sql : sql[database.engine]),
      );
      await database.read(work);
    } finally {
      await database.close();
    }
  });
}

describe('a ledger that lacks', () => {
  for (const [name, [sql, place]] of Object.entries(FORGERIES))
    promiseTest('verify/tampering', name, () =>
      withForged(sql, async (reader) => {
        const { problems } = await verifyEverything(reader);
        expect(problems.map((problem) => problem.place)).toContain(place);
      }),
    );

  promiseTest('verify/tampering', 'nothing, but has another version: a lost connection remains an error', () =>
    withForged(OLDER, async (reader) => {
      const away = withoutHead(reader, new DatabaseError('lost', 'the connection was lost'));
      await expect(verifyRecord(away)).rejects.toThrow('the connection was lost');
    }),
  );

  promiseTest('verify/tampering', 'nothing, but has another version: an unreadable table does not hide it', () =>
    withForged(OLDER, async (reader) => {
      const broken = withoutHead(reader, new Error('integer overflow'));
      const { problems } = await verifyRecord(broken);
      expect(problems.map(({ place }) => place)).toEqual([OLDER_PLACE[reader.engine]]);
    }),
  );

  promiseTest('verify/tampering', 'nothing: another error remains an error', () =>
    withForged('SELECT 1', async (reader) => {
      const broken = withoutHead(reader, new TypeError('a bug'));
      await expect(verifyRecord(broken)).rejects.toThrow('a bug');
    }),
  );
});

/** A reader that fails on each query of the head. */
function withoutHead(reader: Reader, error: Error): Reader {
  return beforeEachStatement(reader, (sql) => {
    if (sql.includes('ledger_head')) throw error;
  });
}
