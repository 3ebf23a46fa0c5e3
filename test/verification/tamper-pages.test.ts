import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { buildFullLedger, openFile } from '../support/sample-ledgers.ts';
import { tamperFile } from '../support/tamper.ts';
import { freePages, multiplyRows, rewriteFile } from './forge/sqlite-pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-pages-'));
const [original, copy] = [join(folder, 'original.db'), join(folder, 'copy.db')];
await buildFullLedger(original);
await tamperFile(original, 'PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL');
const roots = await readRoots();
afterAll(() => rmSync(folder, { recursive: true }));

describe('the pages of an SQLite ledger', () => {
  for (const names of [['thoughts', 'sessions', 'task_labels'], ['tasks_by_project'], ['task_search_data']])
    promiseTest('verify/tampering', `a freelist that names pages of ${names.join(', ')}`, async () => {
      const { status, problems } = await verifyAfter((bytes) => freePages(bytes, names.map(rootOf)));
      expect(status).toBe(1);
      expect(problems).toContainEqual({
        place: expect.toSatisfy((place: string) => names.includes(place)),
        problem: expect.stringContaining('is damaged'),
      });
    });

  for (const [order, prepare] of Object.entries({ 'as it was created': '', 'after a VACUUM': 'VACUUM' }))
    for (const [name, change] of Object.entries<(bytes: Buffer) => Buffer>({
      'a freelist that is longer than the file says': (bytes) => withNumber(bytes, 36, 3),
      'a freelist that begins nowhere': (bytes) => withNumber(withNumber(bytes, 32, 0), 36, 1),
      'a freelist of no pages that begins in a table': (bytes) =>
        withNumber(withNumber(bytes, 32, rootOf('tasks')), 36, 0),
      'a freelist that begins in a table': (bytes) => withNumber(withNumber(bytes, 32, rootOf('tasks')), 36, 1),
      'a freelist that begins beyond the file': (bytes) => withNumber(withNumber(bytes, 32, 0x0100_0000), 36, 0),
      'a freelist that is a cycle': (bytes) => {
        const cycle = freePages(bytes, []);
        return withNumber(cycle, cycle.length - 4096, cycle.length / 4096);
      },
      'a page that nothing refers to': (bytes) => {
        const grown = Buffer.concat([bytes, Buffer.alloc(4096)]);
        return withNumber(grown, 28, grown.length / 4096);
      },
    }))
      promiseTest('verify/tampering', `${name}, in a file ${order}`, async () => {
        const { status, problems } = await verifyAfter(change, prepare);
        expect(status).toBe(1);
        expect(problems).toContainEqual(expect.objectContaining({ problem: expect.stringContaining('is damaged') }));
      });

  for (const name of ['tasks_ready', 'tasks_taken_over'])
    promiseTest('verify/tampering', `the empty index ${name} on a page of a table`, async () => {
      const { status, problems } = await verifyAfter((bytes) => {
        bytes[(rootOf(name) - 1) * 4096] = LEAF_OF_TABLE;
        return bytes;
      });
      expect(status).toBe(1);
      expect(problems).toEqual([{ place: 'file', problem: 'cannot be read: database disk image is malformed' }]);
    });

  promiseTest('ledger/fresh', 'a ledger with free pages, in a file after a VACUUM', async () => {
    const { status, problems } = await verifyAfter((bytes) => freePages(bytes, []), 'VACUUM');
    expect({ status, problems }).toEqual({ status: 0, problems: [] });
  });

  for (const table of ['sessions', 'ledger_head', 'counters'])
    for (const shape of [
      { depth: 6, width: 400 },
      { depth: 60, width: 2 },
    ])
      promiseTest(
        'verify/tampering',
        `${shape.width} ** ${shape.depth} rows of ${table} on a few pages, in a moment`,
        async () => {
          const { status, problems } = await verifyAfter((bytes) => multiplyRows(bytes, rootOf(table), shape));
          expect(status).toBe(1);
          expect(problems).toEqual([{ place: table, problem: expect.stringContaining('is damaged') }]);
        },
      );
});

const LEAF_OF_TABLE = 13;

function withNumber(bytes: Buffer, at: number, value: number): Buffer {
  bytes.writeUInt32BE(value, at);
  return bytes;
}

function rootOf(name: string): number {
  return roots.get(name) ?? 0;
}

async function readRoots(): Promise<ReadonlyMap<string, number>> {
  const database = await openFile(original);
  try {
    const rows = await database.read((reader) =>
      reader.query<{ name: string; rootpage: number }>('SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0'),
    );
    return new Map(rows.map(({ name, rootpage }) => [name, rootpage]));
  } finally {
    await database.close();
  }
}

async function verifyAfter(change: (bytes: Buffer) => Buffer, prepare = '') {
  for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  copyFileSync(original, copy);
  if (prepare !== '') await tamperFile(copy, `${prepare}; PRAGMA wal_checkpoint(TRUNCATE)`);
  rewriteFile(copy, change);
  const { status, stdout } = await runColibri(['verify', '--json'], { COLIBRI_DB_PATH: copy }, folder);
  return { status, problems: JSON.parse(stdout).problems };
}
