import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished } from 'vitest';
import { DatabaseError } from '../../src/db/database.ts';
import { eventually } from '../support/ledger.ts';
import { placeLedger } from '../support/ledger-targets.ts';
import { newPostgresUrl, openTestPostgres } from '../support/postgres/database.ts';
import { Network, type Verdict } from '../support/postgres/network.ts';
import { errorMessage } from '../support/postgres/wire.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type TestServer } from '../support/test-server.ts';

/** Short, so that a test of a network that never answers does not take long. */
const HASTY = { lock_timeout: '400', statement_timeout: '400' };

describe('a connection that breaks while a change is being committed', () => {
  promiseTest('team/network', 'the server never got the commit: nothing was changed, and the client is told so', () =>
    withNetwork(async ({ server, network }) => {
      failAt(network, COMMIT, 1, 'cut');
      const refusal = await server.refusal('task_create', { title: 'lost' });
      expect(refusal).toMatchObject({
        code: 'AUDIT_EXIT_FAILED',
        message: expect.stringContaining('nothing was changed'),
      });
      expect(await server.createTask({ title: 'next' })).toMatchObject({ task_id: 'T-0001' });
      expect(await outcomes(server)).toEqual(['AUDIT_EXIT_FAILED', 'ok']);
    }),
  );

  promiseTest(
    'team/network',
    'the server got it, and only its answer is lost: the client gets the answer all the same',
    () =>
      withNetwork(async ({ server, network }) => {
        failAt(network, COMMIT, 1, 'pass and cut');
        expect(await server.createTask({ title: 'kept' })).toMatchObject({ task_id: 'T-0001' });
        expect(await server.createTask({ title: 'next' })).toMatchObject({ task_id: 'T-0002' });
        expect(await outcomes(server)).toEqual(['ok', 'ok']);
      }),
  );

  promiseTest('team/network', 'and its last word is in another language: the client gets the answer all the same', () =>
    withNetwork(async ({ server, network }) => {
      // What a German server says when it cannot write its log.
      network.lastWords = errorMessage({ severity: 'PANIK', code: '58030', message: 'konnte Datei nicht schreiben' });
      failAt(network, COMMIT, 1, 'pass and cut');
      expect(await server.createTask({ title: 'kept' })).toMatchObject({ task_id: 'T-0001' });
      expect(await outcomes(server)).toEqual(['ok']);
    }),
  );

  promiseTest(
    'team/network',
    'and once more while the record is looked at: the client gets the answer all the same',
    () =>
      withNetwork(async ({ server, network }) => {
        failAt(network, COMMIT, 1, 'pass and cut', () => failAt(network, 'FOR UPDATE', 1, 'cut'));
        expect(await server.createTask({ title: 'kept' })).toMatchObject({ task_id: 'T-0001' });
        expect(await outcomes(server)).toEqual(['ok']);
      }),
  );

  for (const [verdict, title, outcome] of [
    ['pass and cut', 'kept', 'ok'],
    ['cut', 'lost', 'AUDIT_EXIT_FAILED'],
  ] as const)
    promiseTest(
      'team/network',
      `and cannot be made again: the client is told of the doubt, the record of the end (${outcome})`,
      () =>
        withNetwork(async ({ server, network }) => {
          failAt(network, COMMIT, 1, verdict, () => (network.isDown = true));
          const refusal = await server.refusal('task_create', { title });
          expect(refusal).toMatchObject({
            code: 'AUDIT_EXIT_FAILED',
            message: expect.stringContaining('may or may not have been made'),
          });
          network.isDown = false;
          await server.createTask({ title: 'next' });
          expect(await outcomes(server)).toEqual([outcome, 'ok']);
          const tasks = await server.query<{ title: string }>('SELECT title FROM tasks ORDER BY task_no');
          expect(tasks.map((task) => task.title)).toEqual(outcome === 'ok' ? [title, 'next'] : ['next']);
        }),
    );

  for (const verdict of ['cut', 'pass and cut'] as const) {
    promiseTest('team/network', `at the enter entry (${verdict}): the call goes on and is entered once`, () =>
      withNetwork(async ({ server, network }) => {
        failAt(network, ENTER, 1, verdict);
        await server.createTask({ title: 'kept' });
        expect(await outcomes(server)).toEqual(['ok']);
      }),
    );

    promiseTest(
      'team/network',
      `at the exit of a call that only reads (${verdict}): it is answered and has one exit`,
      () =>
        withNetwork(async ({ server, network }) => {
          failAt(network, COMMIT, 1, verdict);
          expect(await server.refusal('task_get', { task_id: 'T-0009' })).toMatchObject({ code: 'ERR_NOT_FOUND' });
          await server.createTask({ title: 'next' });
          expect(await outcomes(server)).toEqual(['ERR_NOT_FOUND', 'ok']);
        }),
    );
  }
});

describe('an enter entry that arrives after its call was entered again', () => {
  promiseTest('team/network', 'is closed as interrupted by the next call (the call had gone on)', () =>
    withNetwork(async ({ server, network }) => {
      failAt(network, ENTER, 1, 'late');
      await server.createTask({ title: 'kept' });
      await arrivesLate(server, network);
      await server.createTask({ title: 'next' });
      await server.createTask({ title: 'after' });
      expect(await outcomes(server)).toEqual(['ok', 'interrupted', 'ok', 'ok']);
    }),
  );

  promiseTest('team/network', 'is closed as interrupted by the next call (the call had been given up)', () =>
    withNetwork(async ({ server, network }) => {
      failAt(network, ENTER, 1, 'late', () => (network.isDown = true));
      expect(await server.refusal('task_create', { title: 'never' })).toMatchObject({ code: 'AUDIT_ENTER_FAILED' });
      network.isDown = false;
      await server.createTask({ title: 'first' });
      await arrivesLate(server, network);
      await server.createTask({ title: 'next' });
      expect(await outcomes(server)).toEqual(['AUDIT_ENTER_FAILED', 'ok', 'interrupted', 'ok']);
    }),
  );

  promiseTest(
    'team/network',
    'is looked for once more after a minute, and then calls are entered at once again',
    async () => {
      let nowMs = 1000;
      const work = async ({ server, network }: Place) => {
        failAt(network, ENTER, 1, 'late');
        await server.createTask({ title: 'kept' });
        await arrivesLate(server, network);
        nowMs += 61_000;
        let atOnce = 0;
        network.judge = (piece) => {
          atOnce += piece.toString('latin1').split(ENTER).length - 1;
          return 'pass';
        };
        await server.createTask({ title: 'next' });
        expect(atOnce).toBe(0);
        await server.createTask({ title: 'after' });
        expect(atOnce).toBe(1);
        expect(await outcomes(server)).toEqual(['ok', 'interrupted', 'ok', 'ok']);
      };
      await withNetwork(work, () => nowMs);
    },
  );

  async function arrivesLate(server: TestServer, network: Network): Promise<void> {
    const before = (await outcomes(server)).length;
    network.deliver();
    await eventually(async () => (await outcomes(server)).length > before);
    expect((await outcomes(server)).at(-1)).toBeNull();
  }
});

describe('a network that is not there', () => {
  promiseTest('team/network', 'a connection that is cut between two calls is made again, and nobody notices', () =>
    withNetwork(async ({ server, network }) => {
      await server.createTask({ title: 'before' });
      network.cut();
      expect(await server.createTask({ title: 'after' })).toMatchObject({ task_id: 'T-0002' });
      expect(await outcomes(server)).toEqual(['ok', 'ok']);
    }),
  );

  promiseTest('team/network', 'a call says that it was not recorded and did not run, and the next one works', () =>
    withNetwork(async ({ server, network }) => {
      network.isDown = true;
      network.cut();
      const refusal = await server.refusal('task_create', { title: 'never' });
      expect(refusal).toMatchObject({
        code: 'AUDIT_ENTER_FAILED',
        message: expect.stringMatching(/did not run.*call again/),
      });
      network.isDown = false;
      expect(await server.createTask({ title: 'first' })).toMatchObject({ task_id: 'T-0001' });
    }),
  );
});

describe('a network that stalls', () => {
  for (const [name, stall] of [
    ['answers do not come', (network: Network) => (network.isDeaf = true)],
    ['questions do not arrive', (network: Network) => (network.judge = () => 'swallow')],
  ] as const)
    promiseTest('team/network', `${name}: the call ends with the time-out, and the next one works`, async () => {
      const network = await Network.create(await newPostgresUrl());
      const database = await openTestPostgres({ url: network.url(HASTY) });
      stall(network);
      const failure = await database.read((reader) => reader.query('SELECT 1 AS one')).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(DatabaseError);
      expect(failure).toMatchObject({ fault: 'lost' });
      network.isDeaf = false;
      network.judge = () => 'pass';
      expect(await database.read((reader) => reader.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    });

  promiseTest('team/network', 'a database that vanished keeps nobody from closing', async () => {
    const network = await Network.create(await newPostgresUrl(), { isHalfOpen: true });
    const database = await openTestPostgres({ url: network.url() });
    await database.read((reader) => reader.query('SELECT 1 AS one'));
    network.isDeaf = true;
    network.judge = () => 'swallow';
    await database.close();
  });

  promiseTest('team/network', 'half of a statement arrives: no double apply, and the next one works', async () => {
    const network = await Network.create(await newPostgresUrl());
    const database = await openTestPostgres({ url: network.url(HASTY) });
    await database.write({ durable: true }, (db) => db.run('CREATE TABLE words (word TEXT)'));
    let pieces = 0;
    network.judge = (piece) => (piece.includes('INSERT') && ++pieces === 1 ? 'half' : 'pass');
    const insert = (word: string) =>
      database.write({ durable: true }, (db) => db.query('INSERT INTO words (word) VALUES ($1)', [word]));
    await expect(insert('half')).rejects.toMatchObject({ fault: 'lost' });
    await insert('whole');
    expect(await database.read((reader) => reader.query('SELECT word FROM words'))).toEqual([{ word: 'whole' }]);
  });
});

/** After its enter entry a call commits once: a write with its exit, or the exit alone after a read that failed. */
const COMMIT = 'COMMIT\0';
/** The enter entry is a statement that is its own transaction. */
const ENTER = 'WITH write_lock';

function failAt(
  network: Network,
  text: string,
  number: number,
  verdict: Verdict,
  onFailure: () => void = () => undefined,
): void {
  let seen = 0;
  onTestFinished(() => expect(seen, `occurrences of ${text}`).toBeGreaterThanOrEqual(number));
  network.judge = (piece) => {
    seen += piece.toString('latin1').split(text).length - 1;
    if (seen < number) return 'pass';
    network.judge = () => 'pass';
    onFailure();
    return verdict;
  };
}

interface Place {
  readonly server: TestServer;
  readonly network: Network;
}

/** A server behind a network of its own; at the end the whole record must hold. */
async function withNetwork(
  work: (place: Place) => Promise<void>,
  nowMs: () => number = () => performance.now(),
): Promise<void> {
  const network = await Network.create(await newPostgresUrl());
  const path = randomUUID();
  placeLedger(path, network.url(HASTY));
  const server = await openServer(path, 'tester', { isTolerant: true, nowMs });
  onTestFinished(() => server.close());
  // What the start has left on its way has arrived when this has.
  await server.database.write({ durable: false }, async () => undefined);
  await work({ server, network });
  await assertWhole(server.database);
}

async function outcomes(server: TestServer): Promise<(string | null)[]> {
  const rows = await server.query<{ outcome: string | null }>('SELECT outcome FROM calls ORDER BY sequence_no');
  return rows.map(({ outcome }) => outcome);
}
