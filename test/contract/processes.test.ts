import { expect } from 'vitest';
import { DatabaseError } from '../../src/db/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { describeContract, insertWord, listWords, openWith, openWords } from './engines.ts';

const WRITERS = 4;
const ROUNDS = 150;

describeContract('several processes', (engine) => {
  promiseTest(
    'store/snapshot',
    'a commit of another process is visible to the next reader, not to an open one',
    async () => {
      const location = await engine.newLocation();
      const database = await openWords(engine, location);
      const other = await engine.startProcess(location);
      const count = 'SELECT COUNT(*) AS n FROM words';
      const seen = await database.read(async (reader) => {
        const before = await reader.query(count);
        await other.run('insert from the other process');
        return [before, await reader.query(count)];
      });
      expect(seen).toEqual([[{ n: 0 }], [{ n: 0 }]]);
      expect(await listWords(database)).toEqual(['from the other process']);
    },
  );

  promiseTest('store/snapshot', 'the snapshot is taken when the reader begins, not at its first query', async () => {
    const location = await engine.newLocation();
    const database = await openWords(engine, location);
    const other = await engine.startProcess(location);
    const seen = await database.read(async (reader) => {
      await engine.snapshotTaken(location);
      await other.run('insert early');
      return reader.query('SELECT word FROM words');
    });
    expect(seen).toEqual([]);
  });

  promiseTest('store/turns', 'a writer waits for a writer in another process', async () => {
    const location = await engine.newLocation();
    const database = await openWords(engine, location);
    const other = await engine.startProcess(location);
    other.send('hold');
    await other.expectLine('held');
    let isWritten = false;
    const writing = insertWord(database, 'after').then(() => (isWritten = true));
    expect(await listWords(await engine.open(location))).toEqual([]);
    expect(isWritten).toBe(false);
    other.send('release');
    await writing;
    expect(await listWords(database)).toEqual(['after']);
  });

  promiseTest('store/turns', 'a killed writer releases the lock and leaves no change', async () => {
    const location = await engine.newLocation();
    const database = await openWords(engine, location);
    const other = await engine.startProcess(location);
    other.send('hold');
    await other.expectLine('held');
    const writing = insertWord(database, 'survivor');
    await other.kill();
    await writing;
    expect(await listWords(database)).toEqual(['survivor']);
  });

  promiseTest('store/responsive', 'timers fire while another process holds the lock', async () => {
    const location = await engine.newLocation();
    const database = await openWords(engine, location);
    const other = await engine.startProcess(location);
    other.send('hold');
    await other.expectLine('held');
    const writing = insertWord(database, 'patient');
    // Past the time after which a waiting writer asks more eagerly.
    for (let tick = 0; tick < 20; tick += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    other.send('release');
    await writing;
    expect(await listWords(database)).toEqual(['patient']);
  });

  promiseTest(
    'store/fault-named',
    'a lock that is not released in time is reported as busy, and a later call works',
    async () => {
      const location = await engine.newLocation();
      await openWords(engine, location);
      // On PostgreSQL it is also the time that a connection may take.
      const hasty = await engine.open(location, { busyTimeoutMs: 1000 });
      const other = await engine.startProcess(location);
      other.send('hold');
      await other.expectLine('held');
      const failure = await insertWord(hasty, 'refused').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(DatabaseError);
      expect(failure).toMatchObject({ fault: 'busy', message: expect.stringContaining('call again') });
      expect(await listWords(hasty)).toEqual([]);
      other.send('release');
      await other.expectLine('done hold');
      await insertWord(hasty, 'accepted');
      expect(await listWords(hasty)).toEqual(['accepted']);
    },
  );

  promiseTest(
    'store/fair',
    `${WRITERS} processes that never pause all finish their ${ROUNDS} transactions`,
    async () => {
      const location = await engine.newLocation();
      const database = await openWith(
        engine,
        location,
        'CREATE TABLE counter (n BIGINT); INSERT INTO counter VALUES (0)',
      );
      const others = await Promise.all(Array.from({ length: WRITERS }, () => engine.startProcess(location)));
      await Promise.all(others.map((other) => other.run(`hammer ${ROUNDS}`)));
      const rows = await database.read((reader) => reader.query('SELECT n FROM counter'));
      expect(rows).toEqual([{ n: WRITERS * ROUNDS }]);
    },
  );
});
