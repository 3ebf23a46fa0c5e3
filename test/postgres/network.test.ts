import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished } from 'vitest';
import { DatabaseError } from '../../src/db/database.ts';
import { eventually } from '../support/ledger.ts';
import { placeLedger } from '../support/ledger-targets.ts';
import { newPostgresUrl, openTestPostgres } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type TestServer } from '../support/test-server.ts';
import { Network, type Verdict } from './fixtures/network.ts';
import { errorMessage } from './fixtures/wire.ts';

/** For a network that never answers: short, so that its test ends soon, and long enough for a busy machine. */
const HASTY = { lock_timeout: '2000', statement_timeout: '2000' };
/** For every other network: so long that a busy machine changes nothing. */
const PATIENT = { lock_timeout: '30000', statement_timeout: '60000' };
const DOWN = { timeouts: HASTY };

describe('a connection that breaks while a change is being committed', () => {
  promiseTest('team/network', 'commit lost before the server: nothing changed, and the client gets an error', () =>
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

  promiseTest('team/network', 'only the response to the commit is lost: the client still gets its result', () =>
    withNetwork(async ({ server, network }) => {
      failAt(network, COMMIT, 1, 'pass and cut');
      expect(await server.createTask({ title: 'kept' })).toMatchObject({ task_id: 'T-0001' });
      expect(await server.createTask({ title: 'next' })).toMatchObject({ task_id: 'T-0002' });
      expect(await outcomes(server)).toEqual(['ok', 'ok']);
    }),
  );

  promiseTest(
    'team/network',
    'a localized error message with the lost response: the client still gets its result',
    () =>
      withNetwork(async ({ server, network }) => {
        // What a German server says when it cannot write its log.
        network.lastWords = errorMessage({ severity: 'PANIK', code: '58030', message: 'konnte Datei nicht schreiben' });
        failAt(network, COMMIT, 1, 'pass and cut');
        expect(await server.createTask({ title: 'kept' })).toMatchObject({ task_id: 'T-0001' });
        expect(await outcomes(server)).toEqual(['ok']);
      }),
  );

  promiseTest('team/network', 'a second break while the commit is resolved: the client still gets its result', () =>
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
      `no reconnect after the commit: the client gets the doubt as an error, and the log ends with ${outcome}`,
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
        }, DOWN),
    );

  for (const verdict of ['cut', 'pass and cut'] as const) {
    promiseTest(
      'team/network',
      `a break at the enter entry (${verdict}): the call continues with one enter entry`,
      () =>
        withNetwork(async ({ server, network }) => {
          failAt(network, ENTER, 1, verdict);
          await server.createTask({ title: 'kept' });
          expect(await outcomes(server)).toEqual(['ok']);
        }),
    );

    promiseTest(
      'team/network',
      `a break at the exit of a read-only call (${verdict}): one response and one exit entry`,
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
  promiseTest(
    'team/network',
    'a late enter entry is closed as interrupted by the next call, after the call continued',
    () =>
      withNetwork(async ({ server, network }) => {
        failAt(network, ENTER, 1, 'late');
        await server.createTask({ title: 'kept' });
        await arrivesLate(server, network);
        await server.createTask({ title: 'next' });
        await server.createTask({ title: 'after' });
        expect(await outcomes(server)).toEqual(['ok', 'interrupted', 'ok', 'ok']);
      }),
  );

  promiseTest(
    'team/network',
    'a late enter entry is closed as interrupted by the next call, after the call failed',
    () =>
      withNetwork(async ({ server, network }) => {
        failAt(network, ENTER, 1, 'late', () => (network.isDown = true));
        expect(await server.refusal('task_create', { title: 'never' })).toMatchObject({ code: 'AUDIT_ENTER_FAILED' });
        network.isDown = false;
        await server.createTask({ title: 'first' });
        await arrivesLate(server, network);
        await server.createTask({ title: 'next' });
        expect(await outcomes(server)).toEqual(['AUDIT_ENTER_FAILED', 'ok', 'interrupted', 'ok']);
      }, DOWN),
  );

  promiseTest(
    'team/network',
    'the server stops looking for a late enter entry after one more check a minute later',
    async () => {
      let nowMs = 1000;
      const work = async ({ server, network }: NetworkedServer) => {
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
      await withNetwork(work, { nowMs: () => nowMs });
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
  promiseTest('team/network', 'a connection that is cut between two calls is reopened without an error', () =>
    withNetwork(async ({ server, network }) => {
      await server.createTask({ title: 'before' });
      network.cut();
      expect(await server.createTask({ title: 'after' })).toMatchObject({ task_id: 'T-0002' });
      expect(await outcomes(server)).toEqual(['ok', 'ok']);
    }),
  );

  promiseTest(
    'team/network',
    'an unreachable database refuses a call as not recorded and not run, and the next call works',
    () =>
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
      }, DOWN),
  );
});

describe('a network that stalls', () => {
  for (const [name, stall] of [
    ['responses do not arrive', (network: Network) => (network.isDeaf = true)],
    ['requests do not arrive', (network: Network) => (network.judge = () => 'swallow')],
  ] as const)
    promiseTest('team/network', `${name}: the call ends with a timeout, and the next call works`, async () => {
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

  promiseTest('team/network', 'close returns although the database no longer responds', async () => {
    const network = await Network.create(await newPostgresUrl(), { isHalfOpen: true });
    const database = await openTestPostgres({ url: network.url() });
    await database.read((reader) => reader.query('SELECT 1 AS one'));
    network.isDeaf = true;
    network.judge = () => 'swallow';
    await database.close();
  });

  promiseTest(
    'team/network',
    'half of a statement arrives: nothing is applied twice, and the next statement works',
    async () => {
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
    },
  );
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

interface NetworkedServer {
  readonly server: TestServer;
  readonly network: Network;
}

/** A server behind a network of its own; at the end the whole record must hold. */
async function withNetwork(
  work: (networked: NetworkedServer) => Promise<void>,
  { nowMs = () => performance.now(), timeouts = PATIENT } = {},
): Promise<void> {
  const network = await Network.create(await newPostgresUrl());
  const path = randomUUID();
  placeLedger(path, network.url(timeouts));
  const server = await openServer(path, 'tester', {
    isTolerant: true,
    nowMs,
    settings: { COLIBRI_AGENT_ID: 'tester' },
  });
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
