import { describe, expect } from 'vitest';
import { colibri, expectWhole, projectFilledBy, tamper, withAgent } from '../support/commands/project-folder.ts';
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

  promiseTest('cli/board-filters', 'say that no task matches, and take either one project or all', async () => {
    const folder = await createTasks();
    const run = (...args: string[]) => colibri(folder, ['board', ...args]);
    expect(run('--label', 'nosuch')).toEqual({ stdout: 'No task matches.\n', stderr: '', status: 0 });
    expect(run('--all', '--project', 'web')).toMatchObject({ stdout: '', status: 64 });
    expect(run('--all', '--project', 'web').stderr).toMatch(/'-a, --all' cannot be used with option '-p, --project/);
  });

  promiseTest('cli/test-mode', 'the commands that read show the ledger of the project, and warn', async () => {
    const folder = await createTasks();
    const run = (...args: string[]) => colibri(folder, args, { COLIBRI_MODE: 'TEST' });
    for (const args of [['board'], ['list'], ['show', '1'], ['verify']])
      expect(run(...args)).toMatchObject({
        status: 0,
        stderr: expect.stringMatching(/^Warning: COLIBRI_MODE is TEST/),
      });
    expect(run('start', '1').stderr).toContain('no task T-0001; unset COLIBRI_MODE to use the ledger of the project');
    expect(run('doctor').stdout).toContain('in mode TEST, servers and commands that write use a temporary ledger');
  });

  promiseTest(
    'cli/board-claims',
    'a lapsed claim is marked, also that of a dead agent where none has to call',
    async () => {
      const folder = await createTasks();
      const off = { COLIBRI_CLAIM_TTL: 'off' };
      await tamper(folder, 'UPDATE presence SET clock_ms = clock_ms - 9 * 60 * 1000');
      for (const env of [{}, off])
        expect(colibri(folder, ['board'], env).stdout).toMatch(/@claude · \d+s ago · silent 9m {2}Rotate/);
      await tamper(folder, 'UPDATE presence SET clock_ms = clock_ms - 3 * 3600 * 1000');
      for (const env of [{}, off])
        expect(colibri(folder, ['board'], env).stdout).toMatch(
          /@claude · \d+s ago · claim lapsed: silent 3h {2}Rotate/,
        );
    },
  );

  promiseTest(
    'cli/list-formats',
    'list prints all tasks for programs, and says what it leaves out for people',
    async () => {
      const folder = await createTasks();
      const run = (...args: string[]) => colibri(folder, ['list', ...args]);
      const { tasks, total_count } = JSON.parse(run('--all', '--json', '-n', '2').stdout) as {
        tasks: { task_id: string; labels: string[] }[];
        total_count: number;
      };
      expect([tasks.map(({ task_id }) => task_id), total_count]).toEqual([['T-0001', 'T-0003'], 3]);
      const csv = run('--csv', '--label', 'security').stdout.split('\r\n');
      expect(csv[0]).toMatch(/^task_id,project,status,priority,progress,assignee,holder,title,/);
      expect(csv.slice(1).map((line) => line.slice(0, 6))).toEqual(['T-0001', 'T-0002', '']);
      const markdown = run('--markdown', '--search', 'release').stdout.split('\n');
      expect(markdown.slice(0, 2)).toEqual([
        '| task\\_id | status | priority | assignee | title | updated\\_at |',
        '| --- | --- | --- | --- | --- | --- |',
      ]);
      expect(markdown[2]).toMatch(/^\| T-0002 \| todo \| normal \| unassigned \| Sign the release \| \S+Z \|$/);
      const lines = run('-n', '1').stdout.split('\n');
      expect(lines[0]).toMatch(/^T-0001 {2}in_progress {2}normal {4,6}\S+ {2}@claude {9}Rotate the signing keys$/);
      expect(lines[1]).toBe('and 1 more: use --limit to show them');
      expect(run('--csv', '-n', '1').stderr).toBe('colibri list: and 1 more: use --limit to show them\n');
      expect(run('--label', 'none').stdout).toBe('No task matches.\n');
      expect(run('--csv', '--json')).toMatchObject({
        status: 64,
        stdout: expect.stringContaining('cannot be used') as string,
      });
      expectWhole(folder);
    },
  );

  promiseTest('cli/people-wrong', 'a filter that cannot match is refused', () => {
    const { stdout, stderr, status } = colibri('.', ['board', '--status', 'nearly']);
    expect([stdout, status]).toEqual(['', 64]);
    expect(stderr).toContain("'nearly' is invalid. Use open or one or more of backlog, todo");
    expect(stderr).toContain('Run colibri board --help for usage.');
  });
});
