import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { compareInBundle } from '../../src/integrity/evidence/in-bundle.ts';
import { canonicalize, commitKey, type Entry, saltedDigest } from '../../src/integrity/index.ts';
import { type Observation, recordObservations } from '../../src/recorder/record.ts';
import { gitEnvironment } from '../git/git-project.ts';
import { promiseTest } from '../support/promise-test.ts';
import type { TestServer } from '../support/test-server.ts';
import { bundledLog } from './bundled-log.ts';
import { claimTask, DAY_MS, ended, failed, later, ran, updated, usage, withObserved } from './observed-server.ts';

interface Shown {
  readonly thought_id: string;
  readonly field: string;
  readonly value: string;
  readonly state: string;
  readonly entry?: number;
  readonly exit_code?: number;
}

async function evidenceOf(server: TestServer, task_id: string): Promise<Shown[]> {
  const task = await server.getTask({ task_id, include_thought_trail: true });
  const { evidence } = task as unknown as { readonly evidence: Shown[] };
  // A bundle of the whole ledger tells the same, except what the repository has.
  const isMissing = ({ field, state }: Shown) => field === 'commit_sha' && state === 'contradicted';
  const expected = evidence.map((item) => (isMissing(item) ? { ...item, state: 'said' } : item));
  expect(compareInBundle(await bundledLog(server), task_id).slice(-evidence.length)).toEqual(expected);
  return evidence;
}

const say = (server: TestServer, task_id: string, fields: object) =>
  server.recordThought({ task_id, type: 'decision', content: 'why', ...fields });

/** `state exit value`, one for each item. */
const brief = (evidence: readonly Shown[]) =>
  evidence.map(({ state, exit_code, value }) =>
    [state, ...(exit_code === undefined ? [] : [exit_code]), value].join(' '),
  );

const SHA = 'a1b2c3d4'.repeat(5);
const PARENT = '0f'.repeat(20);
const SALT = 'ab'.repeat(16);

function commit(sha: string, at: string): Observation {
  const content = canonicalize({ paths: ['a.ts'] });
  const entry = {
    v: 1,
    kind: 'observed.commit',
    at,
    actor: 'hook:git',
    key: commitKey(sha),
    sha,
    tree: SHA,
    parents: [PARENT],
    content: saltedDigest('observed-content', SALT, content),
  } as const satisfies Entry;
  return { entry, salt: SALT, content };
}

describe('evidence of a task', () => {
  promiseTest('evidence/task', 'task_get shows each item with its state, its exit code and its entry', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimTask(observed);
      await report(failed('npm test', 2));
      await report(ran('cd app && CI=1 npm run lint'));
      await report(ended('npm run e2e'));
      await say(server, task_id, {
        tests_run: ['npm test', 'npm test passed', 'npm run lint', 'npm run e2e', 'npm run e2e: ok', 'cargo test'],
      });
      const evidence = await evidenceOf(server, task_id);
      expect(brief(evidence)).toEqual([
        'observed 2 npm test',
        'contradicted 2 npm test passed',
        'observed 0 npm run lint',
        'observed npm run e2e',
        'said npm run e2e: ok',
        'said cargo test',
      ]);
      const [first] = evidence;
      expect(first).toEqual({
        thought_id: 'Θ-0001',
        field: 'tests_run',
        value: 'npm test',
        state: 'observed',
        entry: expect.any(Number),
        exit_code: 2,
      });
      const [entry] = await server.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [
        first?.entry ?? -1,
      ]);
      expect(JSON.parse(entry?.entry ?? '')).toMatchObject({ kind: 'observed', action: 'shell', exit_code: 2 });
      expect(await server.getTask({ task_id })).not.toHaveProperty('evidence');
    }),
  );

  promiseTest('evidence/task', 'a run after review counts, though the turn of the agent ended between them', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimTask(observed);
      await report(updated(task_id, 'review'));
      await server.database.write({ durable: true }, (db) => recordObservations(db, [usage(task_id)]));
      await report(ran('npm test'));
      await say(server, task_id, { tests_run: ['npm test passed'] });
      expect(brief(await evidenceOf(server, task_id))).toEqual(['observed 0 npm test passed']);
    }),
  );

  promiseTest('evidence/task', 'two sub-agents of one session with a task each, also after review', () =>
    withObserved(async (observed) => {
      const { server, report: send } = observed;
      const report = (agent_id: string, fields: object) => send({ ...fields, agent_id });
      const tasks = { a: await claimTask(observed, { agent: 'a' }), b: await claimTask(observed, { agent: 'b' }) };
      const sayPassed = () => say(server, tasks.a, { tests_run: ['npm test passed'] });
      await report('a', failed('npm test'));
      await report('b', ran('npm test'));
      await sayPassed();
      await say(server, tasks.b, { tests_run: ['npm test passed'] });
      await report('a', updated(tasks.a, 'review'));
      await report('b', ran('npm test'));
      await sayPassed();
      await send(ran('npm test'));
      await sayPassed();
      await send(failed('npm test'));
      await report('a', ran('npm test'));
      await sayPassed();
      const states = async (task_id: string) => (await evidenceOf(server, task_id)).map(({ state }) => state);
      expect(await states(tasks.a)).toEqual(['contradicted', 'contradicted', 'observed', 'observed']);
      expect(await states(tasks.b)).toEqual(['observed']);
    }),
  );

  promiseTest(
    'evidence/task',
    'runs after the thought, of other tasks and of sessions without a task do not count',
    () =>
      withObserved(async (observed) => {
        const { server, report } = observed;
        await report(ran('npm test'));
        const task_id = await claimTask(observed);
        const other = await claimTask(observed, { session: 's-2' });
        await report(ran('npm test'), { session: 's-2' });
        await report(ran('npm test'), { session: 's-3' });
        await report(ran('npm test'), { at: later() });
        // Announced, but never reported as ended.
        await report({ ...ran('npm test'), hook_event_name: 'PreToolUse' });
        await say(server, task_id, { tests_run: ['npm test'] });
        await say(server, other, { tests_run: ['npm test'] });
        expect(brief(await evidenceOf(server, task_id))).toEqual(['said npm test']);
        expect(brief(await evidenceOf(server, other))).toEqual(['observed 0 npm test']);
      }),
  );

  promiseTest(
    'evidence/task',
    'a session that brought the task to review still works on it until it takes another',
    () =>
      withObserved(async (observed) => {
        const { server, report } = observed;
        const task_id = await claimTask(observed);
        await server.updateTask({ task_id, status: 'review' });
        await report(updated(task_id, 'review'));
        await report(ran('npm test'));
        await report(failed('npm test'), { session: 's-2' });
        await claimTask(observed);
        await report(failed('npm test', 9));
        await say(server, task_id, { tests_run: ['npm test'] });
        expect(brief(await evidenceOf(server, task_id))).toEqual(['observed 0 npm test']);
      }),
  );

  promiseTest('evidence/task', 'a run from before the task was sent back does not support a later thought', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimTask(observed);
      const before = new Date(Date.now() - DAY_MS);
      await report(ran('npm test'), { at: before });
      await say(server, task_id, { tests_run: ['npm test'] });
      await server.updateTask({ task_id, status: 'review' });
      await server.updateTask({ task_id, status: 'backlog' });
      await say(server, task_id, { tests_run: ['npm test'] });
      expect(brief(await evidenceOf(server, task_id))).toEqual(['observed 0 npm test', 'said npm test']);
      for (const status of ['todo', 'in_progress']) await server.updateTask({ task_id, status });
      await report(failed('npm test', 5));
      await say(server, task_id, { tests_run: ['npm test'] });
      expect(brief(await evidenceOf(server, task_id))).toEqual([
        'observed 0 npm test',
        'said npm test',
        'observed 5 npm test',
      ]);
    }),
  );

  promiseTest('evidence/task', 'with digests alone, only a command whose whole input can be guessed is known', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimTask(observed);
      await report(ran('npm test'), { level: 'digests' });
      const described = { tool_input: { command: 'npm run lint', description: 'Lint' } };
      await report(ran('', described), { level: 'digests' });
      await say(server, task_id, { tests_run: ['npm test', 'npm run lint'] });
      expect(brief(await evidenceOf(server, task_id))).toEqual(['observed 0 npm test', 'said npm run lint']);
    }),
  );

  promiseTest('evidence/task', 'a commit is observed, said or contradicted, also by an abbreviated hash', () =>
    withObserved(async (observed) => {
      const { folder, server } = observed;
      const git = (...args: string[]) => {
        const options = { cwd: folder, encoding: 'utf8', env: gitEnvironment() } as const;
        return spawnSync('git', args, options).stdout.trim();
      };
      const task_id = await claimTask(observed);
      const states = async () => {
        const shown = (await evidenceOf(server, task_id)).filter(({ field }) => field === 'commit_sha');
        return shown.map(({ state }) => state);
      };
      await say(server, task_id, { commit_sha: 'deadbee' });
      expect(brief(await evidenceOf(server, task_id))).toEqual(['said deadbee']);
      const record = (observation: Observation) =>
        server.database.write({ durable: false }, (db) => recordObservations(db, [observation]));
      await record(commit(SHA, new Date().toISOString()));
      for (const sha of [SHA, SHA.slice(0, 7).toUpperCase(), 'feedbee', PARENT.slice(0, 12)])
        await say(server, task_id, { commit_sha: sha, tests_run: ['make'] });
      expect(await states()).toEqual(['said', 'observed', 'observed', 'said', 'said']);
      // Commits that no hook reported, one of them packed.
      git('init', '-q');
      const made = [1, 2].map(() => {
        git('commit', '-q', '--allow-empty', '-m', 'made without hooks');
        const sha = git('rev-parse', 'HEAD');
        git('gc', '-q');
        return sha;
      });
      git('commit', '-q', '--allow-empty', '-m', 'loose');
      for (const sha of [...made, git('rev-parse', 'HEAD')]) await say(server, task_id, { commit_sha: sha });
      // A PostgreSQL server has clients on several machines, each with a repository of its own.
      const missing = server.database.engine === 'sqlite' ? 'contradicted' : 'said';
      expect(await states()).toEqual(['said', 'observed', 'observed', missing, 'said', 'said', 'said', 'said']);
      writeFileSync(join(folder, '.git', 'shallow'), '');
      expect((await states())[3]).toBe('said');
      const commits = (await evidenceOf(server, task_id)).filter(({ field }) => field === 'commit_sha');
      expect(commits[1]?.entry).toBe(commits[2]?.entry);
    }),
  );

  promiseTest('evidence/hostile', 'hostile commands and words are compared, and nothing fails', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimTask(observed);
      const hostile = [
        '\u001b[2Jnpm test',
        'npm\u0000test',
        'npm test\r\necho',
        '"'.repeat(1000),
        '$('.repeat(500),
        '\u202enpm test',
        '%',
        "'; DROP TABLE observations; --",
        '{"action":"shell"}',
        '"kind":"observed.commit"',
        `npm test ${'x'.repeat(20_000)}`,
      ];
      for (const command of hostile) await report(ran(command));
      await report(ran('', { tool_input: { command: 42 } }));
      await report(ran('', { tool_input: null }));
      await report(ran('true', { duration_ms: Number.MAX_SAFE_INTEGER }));
      const tests_run = hostile.filter((text) => text.length <= 512 && !/\p{Cc}/u.test(text));
      await say(server, task_id, { tests_run: [...tests_run, 'npm test', 'a'.repeat(512)] });
      const evidence = await evidenceOf(server, task_id);
      expect(evidence.slice(-2).map(({ state }) => state)).toEqual(['said', 'said']);
      expect(evidence.find(({ value }) => value === '%')?.state).toBe('observed');
    }),
  );

  promiseTest('evidence/hostile', 'a list that is cut says so', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimTask(observed);
      await report(ran('last'));
      for (let thought = 0; thought < 3; thought += 1)
        await say(server, task_id, {
          tests_run: Array.from({ length: 200 }, (_, place) => `test ${thought} ${place}`),
        });
      await say(server, task_id, { tests_run: ['last'] });
      const task = await server.getTask({ task_id, include_thought_trail: true });
      expect(task).toMatchObject({ evidence_total: 601, truncated: true });
      const evidence = await evidenceOf(server, task_id);
      expect(evidence).toHaveLength(500);
      expect(evidence.at(-1)).toMatchObject({ value: 'last', state: 'observed', exit_code: 0 });
    }),
  );
});
