import { expect, it } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { describeContract, insertWord, listWords, openWords } from './engines.ts';

describeContract('a transaction', (engine) => {
  promiseTest('store/all-or-nothing', 'a committed change is visible after reopening', async () => {
    const location = await engine.newLocation();
    const database = await openWords(engine, location);
    await insertWord(database, 'kept');
    await database.close();
    expect(await listWords(await engine.open(location))).toEqual(['kept']);
  });

  promiseTest('store/all-or-nothing', 'a thrown error rolls back and reaches the caller unchanged', async () => {
    const database = await openWords(engine);
    const thrown = new Error('changed my mind');
    const attempt = database.write({ durable: true }, async (transaction) => {
      await transaction.query("INSERT INTO words (word) VALUES ('undone')");
      await transaction.run("INSERT INTO words (word) VALUES ('undone too'); CREATE TABLE more (id INTEGER)");
      await transaction.setSchemaVersion(99);
      throw thrown;
    });
    await expect(attempt).rejects.toBe(thrown);
    expect(await listWords(database)).toEqual([]);
    await expect(database.read((reader) => reader.query('SELECT 1 FROM more'))).rejects.toThrow(/more/);
  });

  promiseTest('store/all-or-nothing', 'a violated constraint rolls back the whole transaction', async () => {
    const database = await openWords(engine);
    const attempt = database.write({ durable: false }, async (transaction) => {
      await transaction.query("INSERT INTO words (id, word) VALUES (1, 'first')");
      await transaction.query("INSERT INTO words (id, word) VALUES (1, 'second')");
    });
    await expect(attempt).rejects.toThrow(/words/);
    expect(await listWords(database)).toEqual([]);
    await insertWord(database, 'afterwards');
    expect(await listWords(database)).toEqual(['afterwards']);
  });

  promiseTest('store/all-or-nothing', 'a statement after the end of its transaction is refused', async () => {
    const database = await openWords(engine);
    const INSERT = "INSERT INTO words (word) VALUES ('late')";
    const scopes: Transaction[] = [];
    await database.write({ durable: true }, async (db) => void scopes.push(db));
    await database
      .write({ durable: true }, async (db) => {
        scopes.push(db);
        throw new Error('a rule');
      })
      .catch(() => undefined);
    await database.read(async (reader) => void scopes.push(reader as Transaction));
    for (const scope of scopes) {
      await expect(scope.query(INSERT)).rejects.toThrow(/has ended/);
      await expect(scope.run(INSERT)).rejects.toThrow(/has ended/);
      expect(() => scope.send(INSERT)).toThrow(/has ended/);
    }
    expect(await listWords(database)).toEqual([]);
  });

  it('passes on a thrown string', async () => {
    const database = await openWords(engine);
    await expect(database.write({ durable: false }, () => Promise.reject('a string'))).rejects.toBe('a string');
    await expect(database.read(() => Promise.reject('a string'))).rejects.toBe('a string');
    await insertWord(database, 'afterwards');
    expect(await listWords(database)).toEqual(['afterwards']);
  });

  promiseTest('store/turns', 'the second of two concurrent transactions begins when the first has ended', async () => {
    const database = await openWords(engine);
    const steps: string[] = [];
    const work = (name: string, fails: boolean) =>
      database.write({ durable: false }, async (transaction) => {
        steps.push(`${name} begins`);
        await transaction.query('INSERT INTO words (word) VALUES ($1)', [name]);
        await new Promise((resolve) => setImmediate(resolve));
        steps.push(`${name} ends`);
        if (fails) throw new Error(name);
      });
    const results = await Promise.allSettled([work('a', false), work('b', true), work('c', false)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(await listWords(database)).toEqual(['a', 'c']);
  });

  promiseTest('store/turns', 'a transaction started inside another runs after it', async () => {
    const database = await openWords(engine);
    let inner: Promise<unknown> = Promise.resolve();
    const outer = database.write({ durable: false }, async () => {
      inner = insertWord(database, 'inner');
      throw new Error('outer fails');
    });
    await expect(outer).rejects.toThrow('outer fails');
    await inner;
    expect(await listWords(database)).toEqual(['inner']);
  });

  promiseTest('store/turns', 'a reader in the same process waits for an earlier writer', async () => {
    const database = await openWords(engine);
    const [, seen] = await Promise.all([insertWord(database, 'first'), listWords(database)]);
    expect(seen).toEqual(['first']);
  });

  it('close waits for the transaction, and a second close does nothing', async () => {
    const location = await engine.newLocation();
    const database = await openWords(engine, location);
    const writing = insertWord(database, 'last words');
    await Promise.all([database.close(), database.close()]);
    await writing;
    await database.close();
    expect(await listWords(await engine.open(location))).toEqual(['last words']);
  });

  it('refuses a transaction on a closed database', async () => {
    const database = await openWords(engine);
    await database.close();
    await expect(insertWord(database, 'too late')).rejects.toThrow();
    await expect(listWords(database)).rejects.toThrow();
  });

  it('the schema version is visible to others only after the commit', async () => {
    const location = await engine.newLocation();
    const [one, two] = [await engine.open(location), await engine.open(location)];
    expect(await one.schemaVersion()).toBe(0);
    await one.write({ durable: true }, async (transaction) => {
      await transaction.run('CREATE TABLE words (id INTEGER)');
      await transaction.setSchemaVersion(7);
      expect(await transaction.schemaVersion()).toBe(7);
      expect(await two.schemaVersion()).toBe(0);
    });
    expect(await two.schemaVersion()).toBe(7);
  });
});
