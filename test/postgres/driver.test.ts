import { Client, Connection } from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { newPostgresUrl, openTestPostgres } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';

/** What a later version of the driver might do in another way. */
const handlers = Client.prototype as unknown as Record<'_handleErrorMessage' | '_handleDataRow', () => void>;

function methodOf(name: 'bind' | 'execute') {
  return Reflect.get(Connection.prototype, name) as (config: unknown, more: boolean) => void;
}

const DEVIATIONS: Readonly<Record<string, () => void>> = {
  'sends each statement in a packet of its own': () => {
    const execute = methodOf('execute');
    vi.spyOn(Connection.prototype, 'execute').mockImplementation(function endPacket(this: Connection, config) {
      execute.call(this, config, true);
      this.sync();
    });
  },
  'swallows errors': () => void vi.spyOn(handlers, '_handleErrorMessage').mockImplementation(() => undefined),
  'swallows rows': () => void vi.spyOn(handlers, '_handleDataRow').mockImplementation(() => undefined),
  'cannot describe a portal': () => {
    vi.spyOn(Connection.prototype, 'describe').mockImplementation(() => {
      throw new TypeError('describe is gone');
    });
  },
};

describe('a driver with different behavior', () => {
  afterEach(() => vi.restoreAllMocks());

  for (const [deviation, install] of Object.entries(DEVIATIONS))
    promiseTest('postgres/driver', `a driver that ${deviation}`, async () => {
      const url = await newPostgresUrl();
      install();
      await expect(openTestPostgres({ url })).rejects.toMatchObject({
        fault: 'refused',
        message: expect.stringMatching(/the PostgreSQL driver does not work as Colibri needs.*install Colibri again/),
      });
      vi.restoreAllMocks();
      await openTestPostgres({ url });
    });
});

describe('a server that fails during the self-test of the driver', () => {
  afterEach(() => vi.restoreAllMocks());

  const CONDITIONS: readonly (readonly [code: string, error: object])[] = [
    ['53200', { fault: 'unavailable', message: expect.stringContaining('lacks memory') }],
    ['57014', { fault: 'busy', advice: expect.stringContaining('raise statement_timeout') }],
    ['58030', { code: '58030' }],
  ];
  for (const [code, error] of CONDITIONS)
    it(`does not blame the driver for a failure of the server (SQLSTATE ${code})`, async () => {
      const url = await newPostgresUrl();
      const parse = Reflect.get(Connection.prototype, 'parse') as (query: object, more: boolean) => void;
      vi.spyOn(Connection.prototype, 'parse').mockImplementation(function fail(this: Connection, query, more) {
        const raise = `DO $$ BEGIN RAISE EXCEPTION 'a condition of the server' USING ERRCODE = '${code}'; END $$`;
        parse.call(this, query?.text === 'SELECT 1 AS one' ? { ...query, text: raise } : (query ?? {}), more ?? false);
      });
      await expect(openTestPostgres({ url })).rejects.toMatchObject(error);
    });
});

describe('a driver that fails while it writes', () => {
  afterEach(() => vi.restoreAllMocks());

  it('fails one call without a change, and the next call works', async () => {
    const database = await openTestPostgres();
    await database.write({ durable: true }, (db) => db.run('CREATE TABLE words (word TEXT)'));
    const insert = (word: string) =>
      database.write({ durable: true }, (db) => db.query('INSERT INTO words (word) VALUES ($1)', [word]));
    const bind = methodOf('bind');
    vi.spyOn(Connection.prototype, 'bind').mockImplementation(function failAtWord(this: Connection, config) {
      if ((config?.values as unknown[] | undefined)?.includes('lost')) throw new RangeError('out of memory');
      bind.call(this, config, true);
    });
    await expect(insert('lost')).rejects.toThrow('out of memory');
    vi.restoreAllMocks();
    await insert('kept');
    expect(await database.read((reader) => reader.query('SELECT word FROM words'))).toEqual([{ word: 'kept' }]);
  });
});
