import { describe, expect } from 'vitest';
import { withClientProcesses } from '../support/clients/client-processes.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerAt } from '../support/ledger-targets.ts';
import { cleanEnvironment, runColibri } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

/** Runs the command until it ends; it may wait for what the test does next. */
async function startWait(path: string, args: readonly string[], env: Record<string, string> = {}) {
  const variables = { ...cleanEnvironment(await ledgerAt(path)), ...env };
  return { ended: runColibri(['wait', ...args], variables, tempFolder()) };
}

describe('colibri wait on either engine', () => {
  promiseTest('cli/wait', 'each condition, while agents work', () =>
    withClientProcesses(async (launch, path) => {
      const agent = await launch('cursor');
      await agent.createTask({ title: 'An idea' });
      const waits = {
        ready: await startWait(path, ['--for', 'ready']),
        review: await startWait(path, ['--for', 'review', '--json']),
        done: await startWait(path, ['--for', 'T-0002', '--timeout', '10m']),
      };
      await agent.createTask({ title: 'Work', status: 'todo' });
      expect(await waits.ready.ended).toEqual({ status: 0, stdout: 'T-0002 todo: Work\n', stderr: '' });
      await agent.updateTask({ task_id: 'T-0002', status: 'in_progress' });
      const lapsed = await startWait(path, ['--for', 'lapsed'], { COLIBRI_CLAIM_TTL: '1s' });
      expect(await lapsed.ended).toEqual({ status: 0, stdout: 'T-0002 in_progress: Work\n', stderr: '' });
      await agent.createTask({ title: 'Part of it', parent_id: 'T-0002' });
      const waiting = await startWait(path, ['--for', 'lapsed', '--timeout', '1m'], { COLIBRI_CLAIM_TTL: '1s' });
      expect(await waiting.ended).toMatchObject({ status: 0, stdout: 'T-0002 in_progress: Work\n' });
      await agent.updateTask({ task_id: 'T-0003', status: 'cancelled' });
      await agent.startSession({ task_id: 'T-0002', auditor_id: 'auditor' });
      await agent.recordThought({ task_id: 'T-0002', type: 'decision', content: 'Because it was next.' });
      await agent.updateTask({ task_id: 'T-0002', status: 'review' });
      const { status, stdout } = await waits.review.ended;
      expect([status, JSON.parse(stdout)]).toEqual([
        0,
        { task_id: 'T-0002', project: 'default', status: 'review', title: 'Work', timed_out: false },
      ]);
      await agent.updateTask({ task_id: 'T-0002', status: 'done' });
      expect(await waits.done.ended).toEqual({ status: 0, stdout: 'T-0002 done: Work\n', stderr: '' });
    }),
  );

  promiseTest('cli/wait-wrong', 'a timeout, a cancelled task and a missing one have exit codes of their own', () =>
    withClientProcesses(async (launch, path) => {
      const agent = await launch('cursor');
      await agent.createTask({ title: 'Given up', status: 'todo' });
      await agent.updateTask({ task_id: 'T-0001', status: 'cancelled' });
      const runs = [
        await startWait(path, ['--for', 'ready', '--timeout', '1s']),
        await startWait(path, ['--for', 'lapsed', '--timeout', '1s', '--json']),
        await startWait(path, ['--for', 'T-0001']),
        await startWait(path, ['--for', 'T-0099']),
        await startWait(path, ['--for', 'done']),
      ];
      expect(await Promise.all(runs.map(({ ended }) => ended))).toMatchObject([
        { status: 75, stdout: '', stderr: 'colibri wait: timed out after 1s: no task is ready\n' },
        { status: 75, stdout: '{"timed_out":true}\n', stderr: '' },
        { status: 1, stdout: 'T-0001 cancelled: Given up\n' },
        { status: 1, stdout: '' },
        { status: 64, stdout: '' },
      ]);
    }),
  );
});
