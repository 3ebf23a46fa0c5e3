import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { tempFolder } from '../../../test/support/folders.ts';
import { openRaw, openTestDatabase, queryFile } from '../../../test/support/ledger.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import type { Database } from '../database.ts';
import { loadSqlite } from './driver.ts';
import { PRAGMAS } from './pragmas.ts';

const sqlite = await loadSqlite();

/** From the source, so that a new setting is tested without an edit here. */
const NAMED = [...PRAGMAS.matchAll(/^ {2}PRAGMA (\w+) = (\S+);$/gm)].map(
  ([, name = '', value = '']) => [name, value] as const,
);

/** The number by which SQLite reports a setting that was made by name. */
const REPORTED: Readonly<Record<string, string | number>> = {
  ON: 1,
  OFF: 0,
  MEMORY: 2,
  'synchronous NORMAL': 1,
  'locking_mode NORMAL': 'normal',
};

describe('the settings of a connection', () => {
  for (const readOnly of [false, true]) {
    promiseTest('store/pragmas', readOnly ? 'a reader' : 'a writer', async () => {
      const path = join(tempFolder(), 'colibri.db');
      const writer = await openTestDatabase({ path });
      const database = readOnly ? await openTestDatabase({ path, readOnly }) : writer;
      expect(NAMED.length).toBeGreaterThanOrEqual(13);
      for (const [name, value] of NAMED) {
        const expected = REPORTED[`${name} ${value}`] ?? REPORTED[value] ?? Number(value);
        expect([name, await pragma(database, name)]).toEqual([name, expected]);
      }
      expect(await pragma(database, 'journal_mode')).toBe('wal');
    });
  }

  promiseTest('store/pragmas', 'a reader cannot write', async () => {
    const path = join(tempFolder(), 'colibri.db');
    await openTestDatabase({ path });
    const reader = await openTestDatabase({ path, readOnly: true });
    const writing = reader.write({ durable: false }, (transaction) => transaction.run('CREATE TABLE t (x INTEGER)'));
    await expect(writing).rejects.toMatchObject({ fault: 'readonly' });
  });
});

describe('durability', () => {
  promiseTest('store/durable', 'in any order of durable and other transactions', async () => {
    const { database, flushes } = await openWatched();
    const wanted = [true, false, true, true, false, false, true, false];
    const flushed: boolean[] = [];
    for (const durable of wanted) {
      const before = flushes.length;
      await insert(database, durable);
      flushed.push(flushes.length > before);
    }
    expect(flushed).toEqual(wanted);
  });

  promiseTest('store/durable', 'a transaction that was undone does not wait, and the next one does', async () => {
    const { database, flushes } = await openWatched();
    await database.write({ durable: true }, () => Promise.reject(new Error('no'))).catch(() => undefined);
    expect(flushes).toHaveLength(0);
    await insert(database, true);
    expect(flushes).toHaveLength(1);
  });

  promiseTest('store/durable', 'relaxed durability never waits', async () => {
    const { database, flushes } = await openWatched('relaxed');
    await insert(database, true);
    await insert(database, false);
    expect(flushes).toHaveLength(0);
  });

  promiseTest(
    'store/flushed',
    'it is the write-ahead log that is flushed, with the change in it and the lock free',
    async () => {
      const { database, flushes, path } = await openWatched();
      const seen: unknown[] = [];
      flushes.onFlush = (file) => {
        seen.push(fs.fstatSync(file).ino === fs.statSync(`${path}-wal`).ino);
        // Throws when the lock is held: a separate connection without a busy timeout.
        seen.push(countThroughWriteLock(path));
      };
      await insert(database, true);
      expect(seen).toEqual([true, 1]);
    },
  );

  const replacements: Record<string, (log: string) => void> = {
    deleted: (log) => fs.renameSync(log, `${log}-old`),
    'replaced by a copy': (log) => {
      fs.renameSync(log, `${log}-old`);
      fs.copyFileSync(`${log}-old`, log);
    },
  };
  for (const [what, replace] of Object.entries(replacements))
    for (const flushesBefore of [0, 1])
      promiseTest(
        'store/unsynced',
        `nothing is written to a log that was ${what} after ${flushesBefore} flushes`,
        async () => {
          const { database, flushes, path } = await openWatched();
          for (let flush = 0; flush < flushesBefore; flush += 1) await insert(database, true);
          replace(`${path}-wal`);
          const failure = { fault: 'unavailable', message: expect.stringContaining('restart the server') };
          await expect(insert(database, true)).rejects.toMatchObject(failure);
          await expect(database.read((reader) => reader.query('SELECT 1'))).rejects.toMatchObject(failure);
          expect(flushes).toHaveLength(flushesBefore);
        },
      );

  promiseTest(
    'store/unsynced',
    'after a failed flush nothing is acknowledged before the log is in the database',
    async () => {
      const { database, flushes, path } = await openWatched();
      flushes.onFlush = failOnce(flushes);
      await expect(insert(database, true)).rejects.toMatchObject({ fault: 'unsynced' });
      expect(fs.statSync(`${path}-wal`).size).toBeGreaterThan(0);
      const sizes: number[] = [];
      flushes.onFlush = () => sizes.push(fs.statSync(`${path}-wal`).size);
      await insert(database, true);
      // The checkpoint cut the log, so that the pages which the disk may have lost are no longer needed.
      expect(sizes).toEqual([0]);
      fs.rmSync(`${path}-wal`);
      expect(await countInFile(path)).toBe(2);
    },
  );

  promiseTest(
    'store/unsynced',
    'and while a reader keeps the log from the database, nothing is acknowledged',
    async () => {
      const { database, flushes, path } = await openWatched();
      await insert(database, true);
      const reader = await openRaw(path);
      reader.exec('BEGIN; SELECT * FROM t');
      flushes.onFlush = failOnce(flushes);
      await expect(insert(database, true)).rejects.toMatchObject({ fault: 'unsynced' });
      await expect(insert(database, true)).rejects.toMatchObject({ fault: 'unsynced' });
      reader.exec('COMMIT');
      await insert(database, true);
    },
  );

  promiseTest('store/unsynced', 'a disk that does not confirm a flush is reported, and nothing is undone', async () => {
    const { database, flushes } = await openWatched();
    flushes.onFlush = () => {
      throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
    };
    const failure = await insert(database, true).catch((error: unknown) => error);
    expect(failure).toMatchObject({ fault: 'unsynced', message: expect.stringContaining('check the disk') });
    flushes.onFlush = () => undefined;
    await insert(database, true);
    const rows = await database.read((reader) => reader.query('SELECT COUNT(*) AS n FROM t'));
    expect(rows).toEqual([{ n: 2 }]);
  });
});

interface Flushes {
  readonly length: number;
  onFlush: (file: number) => void;
}

/** A database whose flushes are watched at the border to the operating system. */
async function openWatched(durability: 'full' | 'relaxed' = 'full') {
  const path = join(tempFolder(), 'colibri.db');
  const database = await openTestDatabase({ path, durability });
  await database.write({ durable: false }, (transaction) => transaction.run('CREATE TABLE t (x INTEGER)'));
  const flushes = { length: 0, onFlush: () => undefined } as { length: number } & Flushes;
  const original = fs.fdatasyncSync.bind(fs);
  // On this thread, or on another one if the disk is slow.
  const flush = (file: number) => {
    flushes.length += 1;
    flushes.onFlush(file);
    original(file);
  };
  const here = vi.spyOn(fs, 'fdatasyncSync').mockImplementation(flush);
  const elsewhere = vi.spyOn(fs, 'fdatasync').mockImplementation((file, done) => {
    try {
      flush(file);
      done(null);
    } catch (error) {
      done(error as NodeJS.ErrnoException);
    }
  });
  onTestFinished(() => {
    here.mockRestore();
    elsewhere.mockRestore();
  });
  return { database, flushes, path };
}

function failOnce(flushes: Flushes): () => void {
  return () => {
    flushes.onFlush = () => undefined;
    throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  };
}

/** What a machine finds that lost the log. */
async function countInFile(path: string): Promise<unknown> {
  const copy = `${path}-copy`;
  fs.copyFileSync(path, copy);
  const [row] = await queryFile<{ n: number }>(copy, 'SELECT COUNT(*) AS n FROM t');
  return row?.n;
}

function insert(database: Database, durable: boolean): Promise<void> {
  return database.write({ durable }, async (transaction) => transaction.send('INSERT INTO t VALUES (1)'));
}

function countThroughWriteLock(path: string): unknown {
  const driver = sqlite.open(path, { readOnly: false });
  try {
    driver.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE');
    const [row] = driver.prepare('SELECT COUNT(*) AS n FROM t').all([]) as { n: number }[];
    driver.exec('ROLLBACK');
    return row?.n;
  } finally {
    driver.close();
  }
}

async function pragma(database: Database, name: string): Promise<unknown> {
  const [row] = await database.read((reader) => reader.query(`PRAGMA ${name}`));
  return row === undefined ? undefined : Object.values(row)[0];
}
