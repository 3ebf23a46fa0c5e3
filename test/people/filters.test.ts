import { describe, expect } from 'vitest';
import { colibri, expectWhole, projectFilledBy, tamper, withAgent } from '../support/people.ts';
import { promiseTest } from '../support/promise-test.ts';

const createTasks = projectFilledBy(async (folder) => {
  await withAgent(folder, 'claude', async (agent) => {
    await agent('task_create', { title: 'Rotate the signing keys', status: 'todo', labels: ['security'] });
    await agent('task_create', { title: 'Sign the release', status: 'todo', labels: ['security'] });
    await agent('task_create', { title: 'Elsewhere', project: 'web', status: 'todo', labels: ['security'] });
    await agent('task_update', { task_id: 'T-0001', status: 'in_progress' });
  });
});

describe('the filters of board', () => {
  promiseTest('cli/board-filters', 'combine, and --all includes the other projects', async () => {
    const folder = await createTasks();
    const filters = ['--label', 'security', '--search', 'e', '--assignee', 'unassigned', '--status', 'open'];
    const run = (...args: string[]) => {
      const { boards, other_projects } = JSON.parse(colibri(folder, ['board', '--json', ...args]).stdout) as {
        boards: { project: string }[];
        other_projects: string[];
      };
      return [boards.map(({ project }) => project), other_projects];
    };
    expect(run(...filters)).toEqual([['default'], ['web']]);
    expect(run(...filters, '--all')).toEqual([['default', 'web'], []]);
    const { stdout } = colibri(folder, ['board', ...filters.slice(0, 2), '--status', 'todo', '--width', '80']);
    expect(stdout).toMatch(/^default {2}1 open\n\nTODO {31}1\n/);
    expectWhole(folder);
  });

  promiseTest('cli/board-claims', 'a lapsed claim is marked, unless claims never lapse', async () => {
    const folder = await createTasks();
    await tamper(folder, 'UPDATE presence SET clock_ms = clock_ms - 3 * 3600 * 1000');
    expect(colibri(folder, ['board']).stdout).toContain('@claude · claim lapsed: silent 3h  Rotate');
    expect(colibri(folder, ['board'], { COLIBRI_CLAIM_TTL: 'off' }).stdout).toContain('@claude · silent 3h  Rotate');
  });

  promiseTest('cli/people-wrong', 'a filter that cannot match is refused', () => {
    const { stdout, stderr, status } = colibri('.', ['board', '--status', 'nearly']);
    expect([stdout, status]).toEqual(['', 64]);
    expect(stderr).toContain("'nearly' is invalid. Use open or one or more of backlog, todo");
    expect(stderr).toContain('Run colibri board --help for usage.');
  });
});
