import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { withDatabase } from '../../src/cli/support/with-ledger.ts';
import {
  colibri,
  createProject,
  expectWhole,
  ledgerOf,
  projectFilledBy,
  startColibri,
  withAgent,
} from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

const createTasks = projectFilledBy(async (folder) => {
  await withAgent(folder, 'claude', async (agent) => {
    await agent('task_create', { title: 'Claimed', status: 'todo' });
    await agent('task_update', { task_id: 'T-0001', status: 'in_progress' });
    await agent('task_create', { title: 'Waits for the first', status: 'todo', depends_on: ['T-0001'] });
    await agent('task_create', { title: 'Given up', status: 'todo', project: 'old' });
    await agent('task_update', { task_id: 'T-0003', status: 'cancelled' });
    await agent('task_create', { title: 'Finished', status: 'todo', project: 'old' });
    await agent('task_update', { task_id: 'T-0004', status: 'in_progress' });
    await agent('audit_session_start', { task_id: 'T-0004', auditor_id: 'auditor' });
    await agent('thought_record', { task_id: 'T-0004', type: 'decision', content: 'Because it was next.' });
    await agent('task_update', { task_id: 'T-0004', status: 'review' });
    await agent('task_update', { task_id: 'T-0004', status: 'done' });
  });
});

describe('colibri wait', () => {
  promiseTest('cli/wait', 'for the next ready task, past changes that make none ready', async () => {
    const folder = await createTasks();
    const waiting = startColibri(folder, ['wait', '--for', 'ready']);
    await withAgent(folder, 'claude', async (agent) => {
      await agent('task_create', { title: 'An idea' });
      await agent('task_create', { title: 'Elsewhere', status: 'todo', project: 'web' });
      await agent('task_create', { title: 'Ready', status: 'todo' });
    });
    expect(await waiting.ended).toEqual({ status: 0, stderr: '' });
    expect(waiting.lines()).toEqual(['T-0007 todo: Ready']);
    expectWhole(folder);
  });

  promiseTest('cli/wait', 'for a task in review, in any project', async () => {
    const folder = await createTasks();
    const own = startColibri(folder, ['wait', '--for', 'review']);
    const any = startColibri(folder, ['wait', '--for', 'review', '--all', '--json']);
    await withAgent(folder, 'claude', async (agent) => {
      await agent('task_create', { title: 'Through the pipeline', workflow: 'pipeline', project: 'web' });
      for (const status of ['GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY'])
        await agent('task_update', { task_id: 'T-0005', status });
      expect((await any.ended).status).toBe(0);
      expect(own.lines()).toEqual([]);
      await agent('task_update', { task_id: 'T-0001', status: 'review' });
      expect((await own.ended).status).toBe(0);
    });
    expect(any.lines().map((line) => JSON.parse(line) as unknown)).toEqual([
      { task_id: 'T-0005', project: 'web', status: 'VERIFY', title: 'Through the pipeline', timed_out: false },
    ]);
    expect(own.lines()).toEqual(['T-0001 review: Claimed']);
    expectWhole(folder);
  });

  promiseTest('cli/wait', 'for a task that is done, at once if it is done already', async () => {
    const folder = await createTasks();
    for (const id of ['T-0004', 't-4', '4'])
      expect(colibri(folder, ['wait', '--for', id, '--timeout', '30s'])).toEqual({
        stdout: 'T-0004 done: Finished\n',
        stderr: '',
        status: 0,
      });
    const waiting = startColibri(folder, ['wait', '--for', 'T-0001']);
    await withAgent(folder, 'claude', async (agent) => {
      await agent('audit_session_start', { task_id: 'T-0001', auditor_id: 'auditor' });
      await agent('thought_record', { task_id: 'T-0001', type: 'decision', content: 'It works.' });
      await agent('task_update', { task_id: 'T-0001', status: 'review' });
      await agent('task_update', { task_id: 'T-0001', status: 'done' });
    });
    expect(await waiting.ended).toEqual({ status: 0, stderr: '' });
    expect(waiting.lines()).toEqual(['T-0001 done: Claimed']);
  });

  promiseTest('cli/wait', 'for a claim that lapses, while no entry is written', async () => {
    const folder = await createTasks();
    // The server of the holder has ended, so time alone makes the claim lapse.
    const { status, stdout } = colibri(folder, ['wait', '--for', 'lapsed'], { COLIBRI_CLAIM_TTL: '1s' });
    expect([status, stdout]).toEqual([0, 'T-0001 in_progress: Claimed\n']);
    expectWhole(folder);
  });

  promiseTest('cli/wait', 'for the first task of a project that does not exist yet', async () => {
    const folder = await createTasks();
    const waiting = startColibri(folder, ['wait', '--for', 'ready', '--project', 'new']);
    await withAgent(folder, 'claude', (agent) =>
      agent('task_create', { title: 'First', status: 'todo', project: 'new' }),
    );
    expect((await waiting.ended).status).toBe(0);
    expect(waiting.lines()).toEqual(['T-0005 todo: First']);
  });

  promiseTest('cli/wait-wrong', 'a timeout', async () => {
    const folder = await createTasks();
    expect(colibri(folder, ['wait', '--for', 'ready', '--timeout', '1s'])).toEqual({
      stdout: '',
      stderr: 'colibri wait: timed out after 1s: no task is ready\n',
      status: 75,
    });
    const json = colibri(folder, ['wait', '--for', 'T-0001', '--timeout', '1s', '--json']);
    expect([json.status, JSON.parse(json.stdout)]).toEqual([75, { timed_out: true }]);
  });

  promiseTest('cli/wait-wrong', 'a task that was cancelled or never existed', async () => {
    const folder = await createTasks();
    expect(colibri(folder, ['wait', '--for', 'T-0003'])).toMatchObject({
      stdout: 'T-0003 cancelled: Given up\n',
      status: 1,
    });
    const missing = colibri(folder, ['wait', '--for', 'T-0099']);
    expect(missing).toMatchObject({ stdout: '', status: 1 });
    expect(missing.stderr).toMatch(/^colibri wait: .*no task T-0099/);
  });

  promiseTest('cli/wait', 'for the first task of a ledger that does not exist yet', async () => {
    const folder = createProject();
    const waiting = startColibri(folder, ['wait', '--for', 'ready', '--timeout', '1m']);
    await withAgent(folder, 'claude', (agent) => agent('task_create', { title: 'First', status: 'todo' }));
    expect((await waiting.ended).status).toBe(0);
    expect(waiting.lines()).toEqual(['T-0001 todo: First']);
  });

  promiseTest('cli/wait', 'for the first task of a ledger whose file has no tables yet', async () => {
    const folder = createProject();
    mkdirSync(dirname(ledgerOf(folder)), { mode: 0o700 });
    writeFileSync(ledgerOf(folder), '', { mode: 0o600 });
    const waiting = startColibri(folder, ['wait', '--for', 'ready', '--timeout', '1m']);
    await withAgent(folder, 'claude', (agent) => agent('task_create', { title: 'First', status: 'todo' }));
    expect((await waiting.ended).status).toBe(0);
    expect(waiting.lines()).toEqual(['T-0001 todo: First']);
  });

  promiseTest('cli/wait-wrong', 'a ledger that cannot be opened is reported at once, and its folder once', async () => {
    const folder = await createTasks();
    const below = join(folder, 'packages');
    mkdirSync(below);
    const { stderr } = colibri(below, ['wait', '--for', 'T-0003']);
    expect(stderr).toBe(`Using the ledger of ${folder}: ${below} is inside it.\n`);
    chmodSync(ledgerOf(folder), 0o644);
    expect(colibri(folder, ['wait', '--for', 'ready', '--timeout', '1s'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('colibri trust'),
    });
  });

  promiseTest('cli/wait-wrong', 'a ledger that is never created, and one that is deleted', async () => {
    expect(colibri(createProject(), ['wait', '--for', 'ready', '--timeout', '1s'])).toMatchObject({
      status: 75,
      stderr: expect.stringMatching(
        /no ledger at .* yet; waiting for one\n.*timed out after 1s: there is no ledger\n$/,
      ),
    });
    const folder = await createTasks();
    const waiting = withDatabase({ dbPath: ledgerOf(folder) }, (database) => {
      rmSync(ledgerOf(folder));
      return database.read(() => Promise.resolve());
    });
    await expect(waiting).rejects.toThrow('replaced while the command used it; run the command again');
  });

  for (const args of [
    [],
    ['--for'],
    ['--for', ''],
    ['--for', 'done'],
    ['--for', 'READY'],
    ['--for', 'A-0001'],
    ['--for', 'T-0000'],
    ['--for', 'ready', '--timeout', '5'],
    ['--for', 'ready', '--timeout', '0s'],
    ['--for', 'ready', '--timeout', '25d'],
    ['--for', 'ready', '--timeout', '-1s'],
    ['--for', 'ready', '--project', 'No Slug'],
    ['--for', 'ready', '--project', 'old', '--all'],
    ['ready'],
  ])
    promiseTest('cli/people-wrong', `wait ${args.join(' ')}`, async () => {
      const { status, stdout, stderr } = colibri(await createTasks(), ['wait', ...args]);
      expect([status, stdout]).toEqual([64, '']);
      expect(stderr).toContain('colibri wait --help');
    });
});
