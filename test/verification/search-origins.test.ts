import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Reader } from '../../src/db/database.ts';
import { BATCH } from '../../src/domains/tasks/search.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openFile } from '../support/sample-ledgers.ts';
import { tamperFile } from '../support/tamper.ts';
import { assertWhole, openServer, type TestServer, withFolder, withServer } from '../support/test-server.ts';

/** Tombstones of a segment have ids of their own, above those of all segments. */
const TOMBSTONES = 'id >= (65536 << 37)';

describe('the origin of a task in the search index', () => {
  promiseTest('verify/search-origin', 'a wrong one is named before a change makes search find old words', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'colibri.db');
      await fill(path, async (server) => {
        for (const title of ['alpha', 'beta', 'gamma']) await createBatch(server, title);
      });
      await tamperFile(path, 'UPDATE task_search_docsize SET origin = 3 WHERE id = 1');
      expect(await placesIn(path)).toEqual(['task_search_docsize']);
      await fill(path, async (server) => {
        await server.updateTask({ task_id: 'T-0001', title: 'delta' });
        const found = await server.query('SELECT rowid FROM task_search WHERE task_search MATCH \'"alpha"\'');
        expect(found).toEqual([{ rowid: 1 }]);
      });
    }),
  );

  promiseTest(
    'verify/search-origin',
    'a deletion that was undone is named although the words are those of the task',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'colibri.db');
        await fill(path, async (server) => {
          await createBatch(server, 'alpha');
          await server.updateTask({ task_id: 'T-0001', title: 'beta' });
          await server.updateTask({ task_id: 'T-0001', title: 'alpha' });
        });
        expect(await placesIn(path)).toEqual([]);
        await tamperFile(
          path,
          `UPDATE task_search_data SET block = CAST(substr(block, 1, 8) || zeroblob(length(block) - 8) AS BLOB)
         WHERE id = (SELECT MIN(id) FROM task_search_data WHERE ${TOMBSTONES})`,
        );
        expect(await placesIn(path)).toEqual(['task_search_docsize']);
      }),
  );

  promiseTest('verify/search-origin', 'ranges of origins that are out of order are named', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'colibri.db');
      await fill(path, async (server) => {
        for (const title of ['alpha', 'beta', 'gamma']) await createBatch(server, title);
      });
      const hex = await withReader(path, structureOf);
      // Segments 1 and 2 take each other's origins, and so do their rows: every row is still in the range of its
      // segment.
      const swapped = hex.replace('0101010101', '0101010202').replace('0201010202', '0201010101');
      expect(swapped).not.toBe(hex);
      await tamperFile(
        path,
        `UPDATE task_search_data SET block = x'${swapped}' WHERE id = 10;
         UPDATE task_search_docsize SET origin = 3 - origin WHERE id <= ${2 * BATCH}`,
      );
      expect(await placesIn(path)).toEqual(['task_search_data']);
    }),
  );

  promiseTest('verify/search-origin', 'honest changes of titles hold through all merges of the index', () =>
    withServer(async (server) => {
      const title = (number: number) => Array.from({ length: 40 }, (_, word) => `w${number % 5}x${word}`).join(' ');
      await server.createTask({ title: '!!!' });
      for (let number = 1; number <= 120; number += 1) {
        if (number % 4 === 0) await server.createTask({ title: title(number) });
        const task = 1 + ((number * 7) % (1 + Math.floor(number / 4)));
        await server.updateTask({ task_id: `T-${String(task).padStart(4, '0')}`, title: title(number) });
        if (number % 8 === 0) await assertWhole(server.database);
      }
      const [merged] = await server.query('SELECT 1 FROM task_search_data WHERE id = 10 AND length(block) > 20');
      expect(merged).toBeDefined();
    }),
  );

  promiseTest('verify/search-origin', 'honest long texts hold through merges of segments with many pages', () =>
    withServer(async (server) => {
      const description = (number: number) =>
        Array.from({ length: 300 }, (_, word) => `common w${(number * 31 + word * 7) % 2003}`).join(' ');
      for (let number = 1; number <= 150; number += 1) {
        await server.createTask({ title: `task ${number}`, description: description(number) });
        if (number % 3 === 0)
          await server.updateTask({
            task_id: `T-${String(number / 3).padStart(4, '0')}`,
            description: description(-number),
          });
        if (number % 25 === 0) await assertWhole(server.database);
      }
      const [largest] = await server.query('SELECT MAX(pgno) AS page FROM task_search_idx');
      expect(largest?.['page']).toBeGreaterThan(20);
    }),
  );
});

/** A task that is indexed at once, together with others: each batch has a segment and an origin of its own. */
async function createBatch(server: TestServer, title: string): Promise<void> {
  await server.createTask({ title });
  for (let count = 1; count < BATCH; count += 1) await server.createTask({ title: `beside ${title}s` });
}

async function fill(path: string, work: (server: TestServer) => Promise<void>): Promise<void> {
  const server = await openServer(path);
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

async function withReader<Result>(path: string, work: (reader: Reader) => Promise<Result>): Promise<Result> {
  const database = await openFile(path);
  try {
    return await database.read(work);
  } finally {
    await database.close();
  }
}

async function placesIn(path: string): Promise<string[]> {
  const { problems } = await withReader(path, (reader) => verifyEverything(reader));
  return problems.map(({ place }) => place);
}

async function structureOf(reader: Reader): Promise<string> {
  const [row] = await reader.query<{ hex: string }>(
    'SELECT lower(hex(block)) AS hex FROM task_search_data WHERE id = 10',
  );
  return row?.hex ?? '';
}
