import { expect, it } from 'vitest';
import type { SqlValue } from '../../src/db/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { describeContract, openWords } from './engines.ts';

const TEXTS: Readonly<Record<string, string>> = {
  'an empty text': '',
  'a quote': `it's "quoted" \\ back`,
  'text with parameters in it': '$1 ? :name @x %s',
  'an umlaut': 'Größe',
  'another script': '蜂鳥は小さい',
  'an emoji outside the basic plane': '🐦‍🔥👩🏽‍💻',
  'combining marks, not normalized': 'e\u0301',
  'a line break and a tab': 'a\r\n\tb',
  'a long text': 'långt '.repeat(200_000),
};

const NUMBERS: readonly number[] = [
  0,
  1,
  -1,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
];

describeContract('a query', (engine) => {
  for (const [name, text] of Object.entries(TEXTS)) {
    promiseTest('store/values', name, async () => {
      const database = await openWords(engine);
      const [row] = await database.write({ durable: false }, (transaction) =>
        transaction.query<{ word: string }>('INSERT INTO words (word) VALUES ($1) RETURNING word', [text]),
      );
      expect(row?.word).toBe(text);
      const [found] = await database.read((reader) =>
        reader.query<{ word: string }>('SELECT word FROM words WHERE word = $1', [text]),
      );
      expect(found?.word).toBe(text);
    });
  }

  for (const number of NUMBERS) {
    promiseTest('store/values', `the integer ${number}`, async () => {
      const database = await openWords(engine);
      await database.write({ durable: false }, (transaction) =>
        transaction.query('INSERT INTO words (amount) VALUES ($1)', [number]),
      );
      const rows = await database.read((reader) =>
        reader.query<{ amount: number }>('SELECT amount FROM words WHERE amount = $1', [number]),
      );
      expect(rows).toEqual([{ amount: number }]);
    });
  }

  promiseTest('store/values', 'null stays null', async () => {
    const database = await openWords(engine);
    const rows = await database.write({ durable: false }, (transaction) =>
      transaction.query('INSERT INTO words (word, amount) VALUES ($1, $2) RETURNING word, amount', [null, null]),
    );
    expect(rows).toEqual([{ word: null, amount: null }]);
  });

  it('accepts parameters out of order, repeated, and more than nine', async () => {
    const database = await engine.open(await engine.newLocation());
    const select = (sql: string, parameters: readonly SqlValue[]) =>
      database.read((reader) => reader.query(sql, parameters));
    expect(await select('SELECT $2 AS a, $1 AS b', ['one', 'two'])).toEqual([{ a: 'two', b: 'one' }]);
    expect(await select('SELECT $1 AS a, $1 AS b, $2 AS c', ['x', null])).toEqual([{ a: 'x', b: 'x', c: null }]);
    const names = Array.from({ length: 11 }, (_, index) => `p${index + 1}`);
    expect(await select(`SELECT ${names.map((name) => `$${name.slice(1)} AS ${name}`).join(', ')}`, names)).toEqual([
      Object.fromEntries(names.map((name) => [name, name])),
    ]);
  });

  it('a statement runs again with other parameters', async () => {
    const database = await engine.open(await engine.newLocation());
    const echo = (word: SqlValue) => database.read((reader) => reader.query('SELECT $1 AS word', [word]));
    expect(await echo('first')).toEqual([{ word: 'first' }]);
    expect(await echo(null)).toEqual([{ word: null }]);
    expect(await echo('third')).toEqual([{ word: 'third' }]);
  });

  it('returns every row of RETURNING, and none for a statement without rows', async () => {
    const database = await openWords(engine);
    const results = await database.write({ durable: false }, async (transaction) => [
      await transaction.query("INSERT INTO words (id, word) VALUES (1, 'a'), (2, 'b') RETURNING id"),
      await transaction.query("UPDATE words SET word = 'c'"),
      await transaction.query("UPDATE words SET word = 'd' WHERE id = 3 RETURNING id"),
      await transaction.query('DELETE FROM words RETURNING id, word'),
    ]);
    expect(results).toEqual([
      [{ id: 1 }, { id: 2 }],
      [],
      [],
      [
        { id: 1, word: 'c' },
        { id: 2, word: 'c' },
      ],
    ]);
  });

  for (const [sql, parameters] of [
    ['SELECT $1 AS a', []],
    ['SELECT $1 AS a, $2 AS b', ['one']],
    ['SELECT $2 AS a, $1 AS b', ['one']],
    ['SELECT $1 AS a', ['one', 'two']],
    ['SELECT 1 AS a', ['one']],
  ] as const) {
    promiseTest('store/parameters', `${sql} with ${parameters.length}`, async () => {
      const database = await engine.open(await engine.newLocation());
      await expect(database.read((reader) => reader.query(sql, parameters))).rejects.toThrow(/parameters/);
      expect(await database.read((reader) => reader.query('SELECT $1 AS a', ['next']))).toEqual([{ a: 'next' }]);
    });
  }
});
