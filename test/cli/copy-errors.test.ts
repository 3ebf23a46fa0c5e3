import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { append } from '../../src/ledger/append.ts';
import { StoredTree } from '../../src/ledger/stored-tree.ts';
import { addTask, CliProject } from '../support/cli-project.ts';
import {
  type LedgerTarget,
  openTarget,
  postgresTarget,
  readEverything,
  sqliteTarget,
  TARGETS,
  verifyTarget,
} from '../support/ledger-targets.ts';
import { call } from '../support/memory-server.ts';
import type { Ran } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createLargeLedger } from '../support/sample-ledgers.ts';

let large: CliProject;

beforeAll(async () => {
  large = new CliProject({ isShared: true });
  await large.addTasks('first', 'second', 'third');
  await createLargeLedger(large.ledger, 2500);
});
afterAll(() => large.remove());

interface Progress {
  readonly entries: number;
  readonly head: number;
}

/** The progress of an unfinished copy; undefined while there are no tables. */
async function progressOf(target: Database): Promise<Progress | undefined> {
  if ((await target.schemaVersion()) === 0) return undefined;
  const [row] = await target.read((reader) =>
    reader.query<Progress>(
      'SELECT (SELECT COUNT(*) FROM ledger_entries) AS entries, (SELECT MAX(size) FROM ledger_head) AS head',
    ),
  );
  return row;
}

/** Starts the command and kills it when it has reached this point. */
async function killAt(
  place: CliProject,
  target: LedgerTarget,
  isReached: (progress: Progress) => boolean,
): Promise<Progress> {
  const child = place.spawn(['copy', '--to', target.to]);
  const exited = once(child, 'exit');
  while (target.engine === 'sqlite' && !existsSync(target.to)) await new Promise((resolve) => setImmediate(resolve));
  const database = await openTarget(target, { acceptsUnfinished: true });
  for (;;) {
    const progress = await progressOf(database).catch(() => undefined);
    if (progress !== undefined && isReached(progress)) break;
    // Yields, so that the exit of the command is noticed.
    await new Promise((resolve) => setImmediate(resolve));
    if (child.exitCode !== null) throw new Error(`the copy ended with ${child.exitCode} before it came so far`);
  }
  child.kill('SIGKILL');
  await exited;
  // PostgreSQL finishes the statements that it has received; the next transaction sees all of them.
  await database.write({ durable: false }, async () => undefined);
  const reached = await progressOf(database);
  await database.close();
  if (reached === undefined) throw new Error('the tables are gone');
  return reached;
}

const json = async (run: Promise<Ran>) => JSON.parse((await run).stdout) as Record<string, number | string>;

describe('a copy that is killed', () => {
  for (const engine of ['sqlite', 'postgres'] as const)
    promiseTest('copy/resumed', `killed three times, to ${engine}`, async () => {
      const place = new CliProject({ like: large });
      const target = await TARGETS[engine]();
      const first = await killAt(place, target, ({ entries }) => entries > 0);
      expect(first.head).toBe(0);
      await expectUnusable(place, target);
      await expectNoAppend(target);
      const second = await killAt(place, target, ({ entries }) => entries > first.entries);
      const third = await killAt(place, target, ({ head }) => head > 0);
      expect(third.head).toBe(third.entries);
      await expectUnusable(place, target);
      const last = await json(place.run('copy', '--to', target.to, '--json'));
      expect(last).toMatchObject({ verdict: 'copied', added: Number(last['size']) - third.entries });
      expect(first.entries).toBeLessThan(second.entries);
      expect(await verifyTarget(target)).toEqual(await verifyTarget(sqliteTarget(place.ledger)));
      expect(await readEverything(target)).toEqual(await readEverything(sqliteTarget(place.ledger)));
    });
});

/** Neither a command nor a server uses it. */
async function expectUnusable(place: CliProject, target: LedgerTarget): Promise<void> {
  const { status, stderr } = await place.runWith({ env: target.env }, 'verify');
  expect(status).toBe(2);
  expect(stderr).toContain('is a copy that is not finished; run colibri copy');
  const agent = await place.openAgent('bob', target.env);
  const answer = await call(agent, 'task_create', { title: 'too early' });
  expect(answer.isError).toBe(true);
  expect(answer.text).toMatch(/ERR_INIT_FAILED.*is a copy that is not finished/);
  await agent.close();
}

/** A server that opened the target before the copy started does not check the version again. */
async function expectNoAppend(target: LedgerTarget): Promise<void> {
  const database = await openTarget(target);
  const entry = { v: 1, kind: 'action.enter', at: '2026-01-01T00:00:00.000Z', actor: 'early' } as const;
  const appended = database.write({ durable: true }, (transaction) => append(transaction, entry));
  await expect(appended).rejects.toThrow(/(?:copy into this ledger|is a copy that) is not finished/);
  await database.close();
}

describe('copy while servers write', () => {
  for (const engine of ['sqlite', 'postgres'] as const)
    promiseTest('copy/under-fire', `from ${engine} while a server writes to it`, async () => {
      const place = new CliProject({ like: large });
      const source = engine === 'sqlite' ? sqliteTarget(place.ledger) : await postgresTarget();
      const target = await (engine === 'sqlite' ? postgresTarget() : TARGETS.sqlite());
      const agent = await place.openAgent('alice', source.env);
      const answered: string[] = [];
      const end = new AbortController();
      const writer = (async () => {
        for (let count = 0; !end.signal.aborted; count += 1) {
          await addTask(agent, `task ${count}`);
          answered.push(`task ${count}`);
        }
      })();
      const sizes: number[] = [];
      // The large ledger is copied once during the writes and once after them.
      for (const minimum of engine === 'sqlite' ? [3] : [3, 30]) {
        while (answered.length < minimum) await new Promise((resolve) => setImmediate(resolve));
        const before = [...answered];
        const copied = await json(place.runWith({ env: source.env }, 'copy', '--to', target.to, '--json'));
        const { size, root, problems } = await verifyTarget(target);
        expect({ ...copied, problems }).toMatchObject({ verdict: 'copied', size, root, problems: [] });
        const original = await openTarget(source);
        expect(await original.read((reader) => new StoredTree(reader, size).root())).toBe(root);
        await original.close();
        const titles = (await readEverything(target))['tasks']?.map((row) => (row as { title: string }).title);
        expect(titles).toEqual(expect.arrayContaining(before));
        sizes.push(size);
      }
      expect(sizes).toEqual([...new Set(sizes)].toSorted((one, other) => one - other));
      end.abort();
      await writer;
      await agent.close();
      const last = await json(place.runWith({ env: source.env }, 'copy', '--to', target.to, '--json'));
      expect(last['source_size']).toBe(last['size']);
      expect(await readEverything(target)).toEqual(await readEverything(source));
    });

  promiseTest('copy/under-fire', 'two copies to one target: one finishes, and it is whole', async () => {
    const place = new CliProject({ like: large });
    const target = await postgresTarget();
    const runs = await Promise.all([1, 2].map(() => place.run('copy', '--to', target.to, '--json')));
    const verdicts = runs.map(({ stdout }) => (JSON.parse(stdout) as { verdict: string }).verdict);
    expect(verdicts).toContain('copied');
    expect(verdicts.filter((verdict) => verdict !== 'copied' && verdict !== 'cannot tell')).toEqual([]);
    expect(await readEverything(target)).toEqual(await readEverything(sqliteTarget(place.ledger)));
  });

  promiseTest('copy/usable', 'a server that has a finished target open sees the entries of the next copy', async () => {
    const place = new CliProject();
    await place.addTasks('first');
    const target = await postgresTarget();
    expect((await place.run('copy', '--to', target.to)).status).toBe(0);
    const agent = await place.openAgent('bob', target.env);
    await place.addTasks('second');
    expect((await place.run('copy', '--to', target.to)).status).toBe(0);
    await addTask(agent, 'third');
    await agent.close();
    expect((await verifyTarget(target)).problems).toEqual([]);
    const titles = (await readEverything(target))['tasks']?.map((row) => (row as { title: string }).title);
    expect(titles).toEqual(['first', 'second', 'third']);
  });
});
