import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, inject } from 'vitest';
import { LEDGER } from '../../src/db/locate.ts';
import { readObservedWork } from '../../src/domains/evidence/observed-work.ts';
import { spoolOf } from '../../src/recorder/spool.ts';
import { atTerminal } from '../people-commands/person-terminal.ts';
import { withSpool } from '../recorder/spooled-server.ts';
import { setOptions } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer, type TestServer } from '../support/test-server.ts';
import {
  claimTask,
  DAY_MS,
  edited,
  ended,
  failed,
  type ObservedServer,
  ran,
  spoolEvent,
  updated,
  withObserved,
} from './observed-server.ts';

const NPM_TEST = { require_observed: ['npm test'] };

/** Claims a task of a project that requires `npm test`, and writes down why it is done. */
async function claimRequired(observed: ObservedServer, session = 's-1'): Promise<string> {
  await setOptions(observed.server.path, 'default', NPM_TEST);
  const task_id = await claimTask(observed, { session });
  await observed.server.recordThought({ task_id, type: 'decision', content: 'why' });
  return task_id;
}

interface Missing {
  readonly command: string;
  readonly reason: string;
  readonly entry?: number;
  readonly exit_code?: number;
}

/** The sentence and the missing runs of a refused `done`, after which nothing has changed. */
async function refuse(server: TestServer, task_id: string): Promise<{ message: string; missing: Missing[] }> {
  const before = await server.getTask({ task_id });
  const { code, message, facts, pattern } = await server.refusal('task_update', { task_id, status: 'done' });
  expect([code, pattern, facts['taskId']]).toEqual(['ERR_OBSERVATION_REQUIRED', 'B', task_id]);
  expect(await server.getTask({ task_id })).toEqual(before);
  return { message, missing: facts['missing_runs'] as Missing[] };
}

const review = (server: TestServer, task_id: string) => server.updateTask({ task_id, status: 'review' });
const finish = (server: TestServer, task_id: string) => server.updateTask({ task_id, status: 'done' });

describe('the project option require_observed', () => {
  promiseTest('required/refused', 'from a failing run to one that exits 0, also in review', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimRequired(observed);
      await report(edited('a.ts'));
      await report(failed('npm test', 7));
      expect((await review(server, task_id)).warnings).toEqual([
        expect.stringMatching(/^done will be refused: the last run of "npm test" exited 7 \(entry \d+\)$/),
      ]);
      await report(updated(task_id, 'review'));
      const { message, missing } = await refuse(server, task_id);
      expect(message).toMatch(
        /^T-0001 cannot be done: the last run of "npm test" exited 7 \(entry \d+\) \(required by project default\); run npm test in the session or sub-agent that works on the task, then repeat the call$/,
      );
      expect(missing).toEqual([{ command: 'npm test', reason: 'failed', entry: expect.any(Number), exit_code: 7 }]);
      await report(ran('npm test'));
      expect(await finish(server, task_id)).not.toHaveProperty('warnings.0', expect.stringMatching(/npm test/));
    }),
  );

  promiseTest('required/refused', 'what does not count', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimRequired(observed);
      await review(server, task_id);
      const reason = async () => (await refuse(server, task_id)).missing.map((missing) => missing.reason);
      expect(await reason()).toEqual(['never']);
      // Another command, another session, a command that was only announced.
      await report(ran('npm test -- a.test.ts'));
      await report(ran('echo npm test'));
      await report(ran('npm test'), { session: 's-2' });
      await report({ ...ran('npm test'), hook_event_name: 'PreToolUse' });
      expect(await reason()).toEqual(['never']);
      await report(ran('npm test | tail'));
      await report(ended('npm test'));
      expect(await reason()).toEqual(['unknown']);
      expect((await refuse(server, task_id)).message).toMatch(/; run npm test alone, without a pipe or \|\|, in the/);
      await report(ran('npm test'), { at: new Date(Date.now() - DAY_MS) });
      await report(edited('a.ts'));
      expect(await reason()).toEqual(['edited']);
      // Recorded after the edit, but run before it.
      await report(ran('npm test'), { at: new Date(Date.now() - DAY_MS) });
      await report(ran('npm test', { duration_ms: DAY_MS }));
      expect(await reason()).toEqual(['edited']);
      await report(ran('npm test'));
      await report(failed('npm test'));
      expect(await reason()).toEqual(['failed']);
      await report(ran('npm test'));
      // An edit that failed changed nothing, and a run whose exit is unknown contradicts nothing.
      await report({ ...edited('b.ts'), hook_event_name: 'PostToolUseFailure', error: 'not found' });
      await report(ran('npm test || true'));
      await finish(server, task_id);
    }),
  );

  promiseTest('required/refused', 'runs of a task do not count for another, and each command is required', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const one = await claimRequired(observed, 's-1');
      const two = await claimRequired(observed, 's-2');
      await setOptions(server.path, 'default', { require_observed: ['npm test', 'npm run lint && make'] });
      await report(ran('cd app && npm test && npm run lint && make'), { session: 's-1' });
      await report(ran('npm test; npm run lint; make'), { session: 's-2' });
      for (const task_id of [one, two]) await review(server, task_id);
      await finish(server, one);
      expect((await refuse(server, two)).missing.map(({ command, reason }) => [command, reason])).toEqual([
        ['npm test', 'unknown'],
        ['npm run lint && make', 'never'],
      ]);
      await setOptions(server.path, 'default', { require_observed: ['make'] });
      await finish(server, two);
    }),
  );

  promiseTest('required/refused', 'an announced command is not a run, and an announced edit is an edit', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimRequired(observed);
      const announced = (fields: object) => ({ ...fields, hook_event_name: 'PreToolUse', tool_response: undefined });
      await report(announced(ran('npm test')));
      await report({ hook_event_name: 'Stop' });
      await server.recordThought({ task_id, type: 'decision', content: 'why', tests_run: ['npm test'] });
      const { evidence } = (await server.getTask({ task_id, include_thought_trail: true })) as { evidence?: object[] };
      expect(evidence).toMatchObject([{ value: 'npm test', state: 'said' }]);
      await review(server, task_id);
      expect((await refuse(server, task_id)).missing).toEqual([{ command: 'npm test', reason: 'never' }]);
      for (const end of [{ hook_event_name: 'Notification' }, { hook_event_name: 'Stop' }]) {
        await report(ran('npm test'));
        await report(announced(edited('a.ts')));
        await report(end);
        expect((await refuse(server, task_id)).missing).toMatchObject([{ reason: 'edited' }]);
      }
      await report({ ...announced(edited('a.ts')), tool_use_id: 'refused' });
      await report({ ...failed('x'), ...edited('a.ts'), tool_use_id: 'refused' });
      await report(ran('npm test'));
      await finish(server, task_id);
    }),
  );

  promiseTest('required/refused', 'an edit in review counts behind any number of events of other sessions', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimRequired(observed);
      await report(ran('npm test'));
      await review(server, task_id);
      await report(updated(task_id, 'review'));
      for (const command of ['a', 'b', 'c']) await report(ran(command), { session: 'other' });
      const edits = async (maxLater: number) =>
        (await server.database.read((db) => readObservedWork(db, 1, 100, maxLater))).edits.length;
      expect(await edits(1)).toBe(0);
      await report(edited('a.ts'));
      for (const maxLater of [1, 3, 4, 5, 5000]) expect([maxLater, await edits(maxLater)]).toEqual([maxLater, 1]);
      expect((await refuse(server, task_id)).missing).toMatchObject([{ reason: 'edited' }]);
    }),
  );

  promiseTest('required/refused', 'hundreds of waiting events are recorded first', () =>
    withSpool(async ({ server, spool, report }) => {
      await setOptions(server.path, 'default', NPM_TEST);
      const { task_id } = await server.createTask({ title: 'One', status: 'todo' });
      await server.startSession({ task_id, auditor_id: 'tester' });
      await server.recordThought({ task_id, type: 'decision', content: 'why' });
      await server.updateTask({ task_id, status: 'in_progress' });
      report(updated(task_id, 'in_progress'));
      report(ran('npm test'));
      await server.updateTask({ task_id, status: 'review' });
      for (let count = 0; count < 400; count += 1) report(ran('ls'));
      report(edited('a.ts'));
      expect((await refuse(server, task_id)).missing).toMatchObject([{ reason: 'edited' }]);
      chmodSync(spool, 0o755);
      const { message, missing } = await refuse(server, task_id);
      expect(missing).toEqual([{ command: 'npm test', reason: 'waiting' }]);
      expect(message).toMatch(/wait in the spool and are not recorded yet .*; repeat the call/);
      chmodSync(spool, 0o700);
      report(ran('npm test'));
      await finish(server, task_id);
    }, true),
  );

  promiseTest('required/refused', 'the option of the project at the time of the call decides, for each server', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimRequired(observed);
      const elsewhere = await server.createTask({ title: 'Elsewhere', status: 'todo', project: 'other' });
      const other = await openServer(server.path, 'other');
      await review(server, task_id);
      await refuse(other, task_id);
      await setOptions(server.path, 'other', NPM_TEST);
      await setOptions(server.path, 'default', { review: 'none' });
      await setOptions(server.path, 'default', { ...NPM_TEST, review: 'none' });
      await refuse(server, task_id);
      await report(ran('npm test'));
      const results = await Promise.allSettled([finish(server, task_id), finish(other, task_id)]);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await setOptions(server.path, 'other', {});
      const id = elsewhere.task_id;
      await server.startSession({ task_id: id, auditor_id: 'tester' });
      await server.recordThought({ task_id: id, type: 'decision', content: 'why' });
      for (const status of ['in_progress', 'review', 'done']) await other.updateTask({ task_id: id, status });
      await other.close();
    }),
  );

  promiseTest('required/refused', 'a pipeline, digests alone, and an override that no agent has', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      await setOptions(server.path, 'default', NPM_TEST);
      const { task_id } = await server.createTask({ title: 'A pipeline', workflow: 'pipeline' });
      await server.startSession({ task_id, auditor_id: 'tester' });
      await server.recordThought({ task_id, type: 'decision', content: 'why' });
      for (const status of ['GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY'])
        await server.updateTask({ task_id, status });
      const { code, message } = await server.refusal('task_update', { task_id, status: 'DONE' });
      expect(code).toBe('ERR_OBSERVATION_REQUIRED');
      expect(message).toMatch(/the recorder has reported nothing to this ledger .*; ask a person to run colibri init/);
      expect(await server.refusal('task_update', { task_id, status: 'DONE', force: 'please' })).toMatchObject({
        code: 'INVALID_PARAMS',
      });
      await report(ran('npm test'), { session: 's-9' });
      expect((await server.refusal('task_update', { task_id, status: 'DONE' })).message).toMatch(
        /no session that the recorder watches has held the task/,
      );
      await report(updated(task_id, 'APPLY'));
      await report(ran('npm test'), { level: 'digests' });
      await server.updateTask({ task_id, status: 'DONE' });
    }),
  );

  promiseTest('required/people', 'set, shown, refused, overridden with a reason, removed', () =>
    atTerminal(async ({ path, lines, refused, run }) => {
      await lines('add', 'Test it');
      const [set, note] = await lines('project', '--require-observed', 'npm test', '--require-observed', 'make');
      expect(set).toBe('default: review none, requires a run of "npm test" and "make", was review none (entry 4)');
      expect(note).toMatch(/^Codex, VS Code and Windsurf report no exit codes: .* colibri done --force "why"\.$/);
      expect(await lines('project', '--review', 'none')).toEqual([
        'default: review none, requires a run of "npm test" and "make" already',
      ]);
      for (const [command, says] of [
        ['npm test || true', /leave out pipes/],
        ['\u001b[2J', /Give a command in one line/],
        ['x'.repeat(513), /Give a command in one line/],
      ] as const) {
        const { status, stderr } = await run(['project', '--require-observed', command]);
        expect([command, status, stderr]).toEqual([command, 3, expect.stringMatching(says)]);
      }
      await lines('start', '1');
      await lines('note', '1', 'why');
      expect(await lines('review', '1')).toEqual([
        expect.stringMatching(/^T-0001 in_progress -> review/),
        'warning: done will be refused: no run of "npm test" was observed; no run of "make" was observed; the recorder has reported nothing to this ledger',
      ]);
      expect(await refused(1, 'done', '1')).toBe(
        'colibri done: T-0001 cannot be done: no run of "npm test" was observed; no run of "make" was observed; the recorder has reported nothing to this ledger (required by project default); let the agent run it in the session that works on T-0001, or repeat the command with --force "why"',
      );
      expect(await lines('done', '1', '--force', 'tested by hand')).toEqual([
        expect.stringMatching(/^T-0001 review -> done \(entry \d+\)$/),
        'warning: done although no run of "npm test" was observed; no run of "make" was observed; the recorder has reported nothing to this ledger',
      ]);
      expect(await lines('project', '--no-require-observed')).toEqual([
        expect.stringMatching(
          /^default: review none, was review none, requires a run of "npm test" and "make" \(entry/,
        ),
      ]);
      const agent = await openServer(path, 'agent');
      const { task_id } = await agent.createTask({ title: 'Free', status: 'todo' });
      await agent.startSession({ task_id, auditor_id: 'agent' });
      await agent.recordThought({ task_id, type: 'decision', content: 'why' });
      for (const status of ['in_progress', 'review', 'done']) await agent.updateTask({ task_id, status });
      await agent.close();
    }),
  );

  promiseTest('required/people', 'an event that still waits in the spool counts', () =>
    atTerminal(async ({ path, folder, lines, refused }) => {
      await lines('add', 'Test it');
      await setOptions(path, 'default', NPM_TEST);
      for (const step of [['start'], ['note', 'why'], ['review']]) await lines(step[0] ?? '', '1', ...step.slice(1));
      expect(await refused(1, 'done', '1')).toMatch(/no run of "npm test" was observed/);
      const spool = spoolOf(inject('engine') === 'sqlite' ? path : join(folder, LEDGER));
      mkdirSync(dirname(spool), { recursive: true, mode: 0o700 });
      spoolEvent(spool, { ...updated('T-0001', 'in_progress'), tool_use_id: 'claim' });
      spoolEvent(spool, { ...ran('npm test'), tool_use_id: 'run' });
      expect(await lines('done', '1')).toEqual([expect.stringMatching(/^T-0001 review -> done/)]);
    }),
  );
});
