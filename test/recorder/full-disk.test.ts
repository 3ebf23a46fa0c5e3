import { describe, expect } from 'vitest';
import { ingest } from '../../src/recorder/ingest.ts';
import { listSpool } from '../../src/recorder/spool.ts';
import { promiseTest } from '../support/promise-test.ts';
import { readObserved, shell, withSpool } from './spooled-server.ts';

const EVENTS = 450;

describe('a full disk', () => {
  promiseTest('recorder/ingest', 'keeps what cannot be added in the spool, and adds it once when there is space', () =>
    withSpool(async ({ server, spool, report }) => {
      const limitPages = (pages: number) =>
        server.database.read((db) => db.query(`PRAGMA max_page_count = ${pages}`)) as Promise<unknown>;
      const [pages] = await server.query<{ page_count: number }>('PRAGMA page_count');
      for (let count = 0; count < EVENTS; count += 1) report(shell(`make ${count} ${'x'.repeat(200)}`));
      await limitPages((pages?.page_count ?? 0) + 60);
      await expect(ingest(server.database, spool)).rejects.toMatchObject({ fault: 'full' });
      const recorded = (await readObserved(server)).length;
      // Whole batches only, and every other event is still a file.
      expect([recorded % 200, recorded + listSpool(spool).length]).toEqual([0, EVENTS]);
      expect(recorded).toBeLessThan(EVENTS);
      await limitPages(1_000_000);
      await ingest(server.database, spool);
      expect([(await readObserved(server)).length, listSpool(spool)]).toEqual([EVENTS, []]);
    }),
  );
});
