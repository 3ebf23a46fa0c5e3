import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { openTestDatabase } from '../../test/support/database.ts';
import { keeps } from '../../test/support/keeps.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { Database } from './database.ts';

/** As the source sets them, so that a setting which is added there is asked for here. */
const NAMED = [...readFileSync('src/db/sqlite.ts', 'utf8').matchAll(/^ {2}PRAGMA (\w+) = (\S+);$/gm)].map(
  ([, name = '', value = '']) => [name, value] as const,
);

/** How SQLite reports what it was told in a word. */
const REPORTED: Readonly<Record<string, string | number>> = {
  ON: 1,
  OFF: 0,
  MEMORY: 2,
  'synchronous NORMAL': 1,
  'locking_mode NORMAL': 'normal',
};

describe('the settings of a connection', () => {
  for (const readOnly of [false, true]) {
    keeps('store/pragmas', readOnly ? 'a reader' : 'a writer', async () => {
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

  keeps('store/pragmas', 'a reader cannot write', async () => {
    const path = join(tempFolder(), 'colibri.db');
    await openTestDatabase({ path });
    const reader = await openTestDatabase({ path, readOnly: true });
    const writing = reader.write({ durable: false }, (transaction) => transaction.run('CREATE TABLE t (x INTEGER)'));
    await expect(writing).rejects.toMatchObject({ fault: 'readonly' });
  });
});

/** SQLite waits for the disk at a commit when synchronous is FULL (2), and does not when it is NORMAL (1). */
describe('durability', () => {
  keeps('store/durable', 'in any order of durable and other transactions', async () => {
    const database = await openTestDatabase();
    const wanted = [true, false, true, true, false, false, true, false];
    const levels: unknown[] = [];
    for (const durable of wanted) {
      levels.push(await database.write({ durable }, (transaction) => level(transaction)));
    }
    expect(levels).toEqual(wanted.map((durable) => (durable ? 2 : 1)));
  });

  keeps('store/durable', 'also right after a transaction that was undone', async () => {
    const database = await openTestDatabase();
    await database.write({ durable: true }, () => Promise.reject(new Error('no'))).catch(() => undefined);
    expect(await database.write({ durable: false }, level)).toBe(1);
    await database.write({ durable: false }, () => Promise.reject(new Error('no'))).catch(() => undefined);
    expect(await database.write({ durable: true }, level)).toBe(2);
  });

  keeps('store/durable', 'relaxed durability never waits', async () => {
    const database = await openTestDatabase({ durability: 'relaxed' });
    expect(await database.write({ durable: true }, level)).toBe(1);
    expect(await database.write({ durable: false }, level)).toBe(1);
  });
});

async function pragma(database: Database, name: string): Promise<unknown> {
  const [row] = await database.read((reader) => reader.query(`PRAGMA ${name}`));
  return row === undefined ? undefined : Object.values(row)[0];
}

async function level(transaction: { query(sql: string): Promise<unknown[]> }): Promise<unknown> {
  const [row] = (await transaction.query('PRAGMA synchronous')) as { synchronous: number }[];
  return row?.synchronous;
}
