import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { SCHEMA_VERSION } from '../../src/db/migrate.ts';
import { keeps } from '../support/keeps.ts';
import { assertWhole, openDesk, withFolder } from '../support/trail-desk.ts';
import { buildScenery, openFile } from '../support/trail-scenery.ts';

/** The schema in which sessions listed their thoughts as well. */
const BEFORE_SESSION_PLACES = 4;

describe('an older ledger', () => {
  keeps('store/migrated', 'one whose sessions list their thoughts', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'colibri.db');
      await buildScenery(path);
      const old = await openFile(path);
      await old.write({ durable: false }, async (transaction) => {
        await transaction.run('INSERT INTO session_records SELECT session_no, session_seq, idx FROM thoughts');
        await transaction.setSchemaVersion(BEFORE_SESSION_PLACES);
      });
      await old.close();

      const desk = await openDesk(path);
      try {
        expect(await desk.database.schemaVersion()).toBe(SCHEMA_VERSION);
        await assertWhole(desk.database);
        const listed = await desk.query('SELECT 1 FROM session_records JOIN thoughts USING (idx)');
        expect(listed).toEqual([]);
        const input = { session_id: 'A-0001' };
        expect(await desk.verify(input)).toMatchObject({ chain_valid: true, integrity_score: 100 });
      } finally {
        await desk.close();
      }
    }),
  );
});
