import { describe, expect } from 'vitest';
import { colibri, createProject, expectWhole, projectFilledBy, withAgent } from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

const createWork = projectFilledBy(async (folder) => {
  await withAgent(folder, 'claude', async (agent) => {
    await agent('task_create', { title: 'Parse dates', status: 'todo' });
    await agent('task_create', { title: 'Print dates', status: 'todo' });
    await agent('task_update', { task_id: 'T-0001', status: 'in_progress' });
    await agent('audit_session_start', { task_id: 'T-0001', auditor_id: 'claude' });
    await agent('thought_record', { task_id: 'T-0001', type: 'decision', content: 'Use Temporal.' });
  });
  await withAgent(folder, 'codex', async (agent) => {
    await agent('task_update', { task_id: 'T-0002', status: 'in_progress' });
  });
});

describe('colibri brief', () => {
  promiseTest('brief/command', '--agent prints the brief of that agent', async () => {
    const folder = await createWork();
    const { stdout, stderr, status } = colibri(folder, ['brief', '--agent', 'claude']);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(
      stdout.replace(/last call \S+, entry \d+/, 'last call …'),
    ).toBe(`You are claude in project default; last call ….
Yours:
- T-0001 in_progress, session A-0001: Parse dates
Changed by others since your last call:
- T-0002 in_progress, by codex: Print dates
Decision Θ-0001 on T-0001 by claude:
> Use Temporal.
Next:
- when in_progress is complete: task_update {"task_id":"T-0001","status":"review"}
`);
    expectWhole(folder);
  });

  promiseTest('brief/command', 'COLIBRI_AGENT_ID names the agent, and --agent overrides it', async () => {
    const folder = await createWork();
    const env = { COLIBRI_AGENT_ID: 'codex' };
    expect(colibri(folder, ['brief'], env).stdout).toContain('You are codex');
    expect(colibri(folder, ['brief', '--agent', 'claude'], env).stdout).toContain('You are claude');
  });

  promiseTest('brief/command', 'without an agent it shows the work of everyone', async () => {
    const folder = await createWork();
    const { stdout } = colibri(folder, ['brief']);
    expect(stdout).toContain(
      'In work:\n- T-0002 in_progress, codex: Print dates\n- T-0001 in_progress, claude, session',
    );
    expect(stdout).not.toContain('when in_progress is complete');
    expect(JSON.parse(colibri(folder, ['brief', '--json']).stdout)).toMatchObject({
      yours: [],
      yours_total: 0,
      in_work: [{ task_id: 'T-0002', holder: 'codex' }, { task_id: 'T-0001' }],
      in_work_total: 2,
      next: [expect.stringContaining('nothing is ready')],
    });
  });

  promiseTest('brief/command', '--json prints the same as data', async () => {
    const folder = await createWork();
    const { stdout, status } = colibri(folder, ['brief', '--agent', 'claude', '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      agent: 'claude',
      project: 'default',
      yours: [{ task_id: 'T-0001', session_id: 'A-0001', has_thought: true }],
      yours_total: 1,
      changed: [{ task_id: 'T-0002', updated_by: 'codex' }],
      decisions: [{ thought_id: 'Θ-0001', content: 'Use Temporal.' }],
      next: [expect.stringContaining('"status":"review"')],
    });
  });

  promiseTest('brief/command', 'an unknown agent has no tasks, and the brief says what to claim', async () => {
    const folder = await createWork();
    const { stdout, status } = colibri(folder, ['brief', '--agent', '%"_\\ unknown']);
    expect(status).toBe(0);
    expect(stdout).toContain('no recent call');
    expect(stdout).toContain('Last changes:');
    expect(stdout).not.toContain('Yours:');
  });

  for (const [args, expected] of [
    [['brief', '--agent'], 64],
    [['brief', '--agent', ''], 64],
    [['brief', '--agent', ' '], 64],
    [['brief', 'claude'], 64],
    [['brief', '--project', 'Not A Slug'], 64],
  ] as const)
    promiseTest('brief/command', `wrong usage: ${args.join(' ')}`, async () => {
      expect(colibri(await createWork(), args).status).toBe(expected);
    });

  promiseTest('brief/command', 'without a ledger it exits with 2 and creates none', () => {
    const folder = createProject();
    expect(colibri(folder, ['brief'])).toMatchObject({ status: 2, stdout: '' });
    expect(colibri(folder, ['brief'])).toMatchObject({ stderr: expect.stringContaining('no ledger at') });
  });
});
