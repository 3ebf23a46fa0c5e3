import { describe, expect } from 'vitest';
import { displayWidth } from '../../src/cli/views/text-width.ts';
import {
  colibri,
  colibriOnTerminal,
  createProject,
  expectWhole,
  projectFilledBy,
  withAgent,
} from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

const createQueue = projectFilledBy(async (folder) => {
  await withAgent(folder, 'claude', async (agent) => {
    await agent('task_create', { title: 'Old and normal', status: 'todo', estimate_hours: 2 });
    await agent('task_create', {
      title: 'New and critical 日本語',
      status: 'todo',
      priority: 'critical',
      assignee: 'ada',
    });
    await agent('task_create', { title: 'After both', status: 'todo', depends_on: ['T-0001', 'T-0002'] });
    await agent('task_create', { title: 'Stuck', status: 'todo', priority: 'high' });
    await agent('task_update', { task_id: 'T-0004', status: 'blocked', blocked_reason: 'the vendor is silent' });
    await agent('task_create', { title: 'A part', status: 'todo', parent_id: 'T-0003' });
    await agent('task_create', { title: 'Only an idea' });
  });
});

describe('colibri next', () => {
  promiseTest('cli/people-next', 'prints the queue, then the blocked tasks', async () => {
    const folder = await createQueue();
    expect(colibri(folder, ['next'])).toEqual({
      stdout: `default: ready
  1. T-0002 critical New and critical 日本語  @ada
  2. T-0001 normal   Old and normal  2 h
  3. T-0005 normal   A part  part of T-0003

default: blocked
     T-0004 Stuck  [the vendor is silent]
     T-0003 After both  [waits for T-0001, T-0002, T-0005]
`,
      stderr: '',
      status: 0,
    });
  });

  promiseTest('cli/people-next', 'respects the width of the terminal and --limit', async () => {
    const folder = await createQueue();
    for (const columns of [20, 40, 80]) {
      const { stdout } = colibriOnTerminal(folder, columns, ['next', '-n', '1'], { NO_COLOR: '1' });
      expect(Math.max(...stdout.split('\n').map(displayWidth))).toBeLessThanOrEqual(columns);
      expect(stdout.match(/T-000\d/g)?.slice(0, 2)).toEqual(['T-0002', 'T-0004']);
      expect(stdout.match(/and more/g)).toHaveLength(2);
    }
  });

  promiseTest('cli/people-next', '--json prints what task_next_actions returns', async () => {
    const folder = await createQueue();
    const { queues } = JSON.parse(colibri(folder, ['next', '--json', '-n', '2']).stdout) as { queues: unknown[] };
    expect(queues).toEqual([
      {
        project: 'default',
        next_actions: [
          {
            task_id: 'T-0002',
            title: 'New and critical 日本語',
            priority: 'critical',
            assignee: 'ada',
            dependencies_unmet: 0,
          },
          {
            task_id: 'T-0001',
            title: 'Old and normal',
            priority: 'normal',
            assignee: 'unassigned',
            estimate_hours: 2,
            dependencies_unmet: 0,
          },
        ],
        blocked: [
          { task_id: 'T-0004', title: 'Stuck', blocked_reason: 'the vendor is silent', dependencies_unmet: 0 },
          {
            task_id: 'T-0003',
            title: 'After both',
            blocked_reason: 'waits for T-0001, T-0002, T-0005',
            dependencies_unmet: 3,
          },
        ],
        has_more: { next_actions: true, blocked: false },
      },
    ]);
  });

  promiseTest('cli/people-next', 'explains an empty queue', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', (agent) => agent('task_create', { title: 'Only an idea' }));
    expect(colibri(folder, ['next']).stdout).toContain(
      'nothing: every open task is claimed, waits for another, or is in the backlog',
    );
    expectWhole(folder);
  });
});
