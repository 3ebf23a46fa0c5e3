import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { placeLedger } from '../support/ledger-targets.ts';
import { newPostgresUrl, openTestPostgres, runOn } from '../support/postgres/database.ts';
import { openServer, type ServerOptions } from '../support/test-server.ts';
import { Network } from './fixtures/network.ts';

describe('statements sent in one packet', () => {
  it('statements of one packet each get their own rows, including none', async () => {
    const database = await openWords();
    const answers = await database.write({ durable: true }, (db) =>
      Promise.all([
        db.query('SELECT $1 AS one, NULL AS nothing', ['a']),
        db.query('INSERT INTO words (word) VALUES ($1)', ['b']),
        db.query('SELECT word, length(word) AS length FROM words'),
        db.query('SELECT word FROM words WHERE word = $1', ['c']),
      ]),
    );
    expect(answers).toEqual([[{ one: 'a', nothing: null }], [], [{ word: 'b', length: 1 }], []]);
  });

  it('statements of one packet fail together, change nothing, and work when repeated', async () => {
    const database = await openWords();
    const attempt = (word: string) =>
      database.write({ durable: true }, (db) =>
        Promise.all([
          db.query("SELECT 'before' AS place"),
          db.query('INSERT INTO words (word) VALUES ($1) RETURNING word', [word]),
          db.query("SELECT 'behind' AS place"),
        ]),
      );
    await expect(attempt('far too long a word')).rejects.toThrow(/too long/);
    await expect(attempt('far too long a word')).rejects.toThrow(/too long/);
    for (const word of ['one', 'two'])
      expect(await attempt(word)).toEqual([[{ place: 'before' }], [{ word }], [{ place: 'behind' }]]);
    expect(await words(database)).toEqual(['one', 'two']);
  });

  it('a syntax error in one statement of a packet changes nothing, and the next packet works', async () => {
    const database = await openWords();
    const attempt = () => database.write({ durable: true }, (db) => db.query('SELECT no_such_column FROM words'));
    await expect(attempt()).rejects.toThrow(/no_such_column/);
    await database.write({ durable: true }, (db) => db.run('ALTER TABLE words ADD COLUMN no_such_column TEXT'));
    expect(await attempt()).toEqual([]);
  });

  it('a failed change that was not awaited fails the commit', async () => {
    const database = await openWords();
    const work = database.write({ durable: true }, async (db) => {
      db.send('INSERT INTO words (word) VALUES ($1)', ['kept?']);
      db.send('UPDATE words SET word = $1', ['far too long a word']);
    });
    await expect(work).rejects.toThrow(/too long/);
    expect(await words(database)).toEqual([]);
  });

  it('work that throws before anything was sent does not block the next transaction', async () => {
    const url = await newPostgresUrl();
    const database = await openWords(url);
    const other = await openTestPostgres({ url, busyTimeoutMs: 2000 });
    await expect(database.write({ durable: true }, () => Promise.reject(new Error('at once')))).rejects.toThrow(
      'at once',
    );
    await other.write({ durable: true }, (db) => db.query('INSERT INTO words (word) VALUES ($1)', ['next']));
    expect(await words(database)).toEqual(['next']);
  });

  it('statements on tables that another process altered fail once with advice, then work', async () => {
    const url = await newPostgresUrl();
    const database = await openWords(url);
    const ask = () => database.read((reader) => reader.query('SELECT * FROM words'));
    const count = () => database.read((reader) => reader.query('SELECT words.* FROM words'));
    await Promise.all([ask(), count()]);
    await runOn(url, 'ALTER TABLE words ADD COLUMN number INTEGER');
    await expect(ask()).rejects.toMatchObject({ fault: 'busy', message: expect.stringContaining('call again') });
    expect(await Promise.all([ask(), count()])).toEqual([[], []]);
  });

  it('prepared statements that the server deallocated fail once with advice, then work', async () => {
    const database = await openWords();
    const add = () =>
      database.write({ durable: true }, (db) => db.query('INSERT INTO words (word) VALUES ($1) RETURNING word', ['a']));
    await add();
    await expect(database.write({ durable: true }, (db) => db.run('DEALLOCATE ALL'))).rejects.toMatchObject({
      fault: 'busy',
      message: expect.stringContaining('session mode'),
    });
    expect(await add()).toEqual([{ word: 'a' }]);
    expect(await words(database)).toEqual(['a', 'a']);
  });

  it('statement names prepared with other text fail once with advice, then work', async () => {
    const database = await openWords();
    const add = () =>
      database.write({ durable: true }, (db) => db.query('INSERT INTO words (word) VALUES ($1) RETURNING word', ['a']));
    await add();
    const prepared = await database.read((reader) =>
      reader.query<{ name: string }>(
        "SELECT name FROM pg_prepared_statements WHERE statement LIKE 'INSERT INTO words%'",
      ),
    );
    expect(prepared).toHaveLength(1);
    const replace = `DEALLOCATE "${prepared[0]?.name}"; PREPARE "${prepared[0]?.name}" AS SELECT $1::text, $2::text`;
    await database.write({ durable: true }, (db) => db.run(replace));
    await expect(add()).rejects.toMatchObject({ fault: 'busy', message: expect.stringContaining('session mode') });
    expect(await add()).toEqual([{ word: 'a' }]);
    expect(await words(database)).toEqual(['a', 'a']);
  });

  it('a packet whose last statement was not run as COMMIT is not acknowledged', async () => {
    const database = await openWords();
    const add = (word: string) =>
      database.write({ durable: true }, (db) => db.query('INSERT INTO words (word) VALUES ($1)', [word]));
    await add('kept');
    await database
      .write({ durable: true }, (db) => db.run('DEALLOCATE "COMMIT"; PREPARE "COMMIT" AS SELECT 1'))
      .catch(() => undefined);
    await expect(add('lost')).rejects.toMatchObject({ message: expect.stringContaining('nothing was changed') });
    expect(await words(database)).toEqual(['kept']);
  });

  it('a packet can carry more values than one statement allows', async () => {
    const database = await openWords();
    const COUNT = 70_000;
    await database.write({ durable: true }, async (db) => {
      for (let index = 0; index < COUNT; index += 1) db.send('INSERT INTO words (word) VALUES ($1)', [`${index}`]);
    });
    expect(await database.read((reader) => reader.query('SELECT count(*) AS count FROM words'))).toEqual([
      { count: COUNT },
    ]);
  });

  it('a parameter of an unsupported type is refused before anything is sent, and the next statement works', async () => {
    const database = await openWords();
    for (const value of [true, 1n, {}, new Uint8Array(1)] as unknown as string[])
      for (const ask of ['query', 'send'] as const)
        await expect(
          database.write({ durable: true }, async (db) => db[ask]('INSERT INTO words (word) VALUES ($1)', [value])),
        ).rejects.toThrow(/neither text nor number/);
    expect(await words(database)).toEqual([]);
  });
});

describe('the first call of an agent', () => {
  it('asks about the processes of all its namesakes at once, while other servers wait', async () => {
    const url = await newPostgresUrl();
    const network = await Network.create(url);
    const other = await openAgent(url, { COLIBRI_AGENT_ID: 'other' });
    for (let count = 0; count < 20; count += 1) await other.call('task_list', {});
    await runOn(
      url,
      `INSERT INTO presence (sequence_no, actor) SELECT sequence_no, 'agent#' || sequence_no FROM calls
       WHERE sequence_no NOT IN (SELECT sequence_no FROM presence)`,
    );
    const agent = await openAgent(network.url());
    const questions: number[] = [];
    network.judge = (piece) => {
      const asked = piece.toString('latin1').split('pg_locks').length - 1;
      for (let count = 0; count < asked; count += 1) questions.push(network.answers);
      return 'pass';
    };
    await agent.call('task_list', {});
    expect(questions.length).toBeGreaterThan(15);
    expect(new Set(questions).size, 'round trips').toBeLessThan(questions.length / 2);
  });
});

async function openAgent(url: string, settings: NonNullable<ServerOptions['settings']> = {}) {
  const path = randomUUID();
  placeLedger(path, url);
  const server = await openServer(path, 'agent', { isTolerant: true, settings });
  onTestFinished(() => server.close());
  return server;
}

async function openWords(url?: string): Promise<Database> {
  const database = await openTestPostgres(url === undefined ? {} : { url });
  await database.write({ durable: true }, (db) => db.run('CREATE TABLE words (word VARCHAR(8))'));
  return database;
}

async function words(database: Database): Promise<string[]> {
  const rows = await database.read((reader) => reader.query<{ word: string }>('SELECT word FROM words ORDER BY word'));
  return rows.map(({ word }) => word);
}
