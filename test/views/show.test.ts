import { execFileSync } from 'node:child_process';
import { describe, expect } from 'vitest';
import { displayWidth } from '../../src/cli/views/text-width.ts';
import {
  type Agent,
  colibri,
  colibriOnTerminal,
  createProject,
  expectWhole,
  projectFilledBy,
  tamper,
  withAgent,
} from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

const createStory = projectFilledBy(async (folder) => {
  await withAgent(folder, 'planner', async (agent) => {
    await agent('task_create', {
      title: 'Move sessions to the new store',
      description: 'They are lost at every restart.\n\nKeep the cookies as they are.',
      status: 'todo',
      priority: 'high',
      labels: ['backend', 'login'],
      estimate_hours: 3,
    });
    await agent('task_create', { title: 'A part of it', parent_id: 'T-0001', depends_on: [] });
  });
  await withAgent(folder, 'claude', async (agent) => {
    await agent('task_update', { task_id: 'T-0001', status: 'in_progress' });
    await agent('audit_session_start', {
      task_id: 'T-0001',
      auditor_id: 'ada',
      scope: 'deep',
      reason: 'for the audit',
    });
    await agent('thought_record', {
      task_id: 'T-0001',
      type: 'decision',
      content: 'One table, because a second store would have to be backed up as well.',
      branch: 'sessions',
      commit_sha: 'abcdef1',
      tests_run: ['npm test', 'npm run load'],
      blockers: ['no staging'],
      metadata: { reviewers: 2 },
    });
    await agent('task_update', { task_id: 'T-0001', status: 'blocked', blocked_reason: 'staging is down' });
    await agent('thought_record', { task_id: 'T-0001', type: 'risk', content: 'The old cookies expire.' });
    await agent('task_update', { task_id: 'T-0002', status: 'todo' });
    await agent('merkle_finalize', { session_id: 'A-0001' });
  });
});

/** Makes a repository of the folder and returns the hash of its only commit. */
function createCommit(folder: string, origin: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
  git('init', '-q');
  git('remote', 'add', 'origin', origin);
  git('-c', 'user.name=ada', '-c', 'user.email=ada@example.org', 'commit', '-q', '--allow-empty', '-m', 'Start');
  return git('rev-parse', 'HEAD');
}

describe('colibri show', () => {
  promiseTest('cli/commit-links', 'known commits only, on a terminal only; an unknown one is warned of', async () => {
    const folder = await createStory();
    const sha = createCommit(folder, 'https://ada:secret@github.com/ada/engine.git');
    expect(colibri(folder, ['note', '1', 'Built it.', '--commit', sha]).stderr).toBe('');
    expect(colibri(folder, ['note', '1', 'Tried it.', '--commit', 'abcdef2'])).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('Warning: the repository of this folder has no commit abcdef2') as string,
    });
    const link = (text: string) =>
      `\u001b]8;;https://github.com/ada/engine/commit/${sha}\u001b\\${text}\u001b]8;;\u001b\\`;
    const show = (columns: number, variables = {}) =>
      colibriOnTerminal(folder, columns, ['show', '1'], { TERM: 'xterm', FORCE_COLOR: '1', ...variables }).stdout;
    expect(show(80)).toContain(`${link(sha)} (`);
    expect(show(80).split('\u001b]8;;https')).toHaveLength(2);
    expect(show(40)).toContain(link(sha.slice(0, 26)));
    for (const plain of [
      show(80, { TERM: 'dumb' }),
      show(80, { FORCE_COLOR: '0' }),
      colibri(folder, ['show', '1'], { FORCE_COLOR: '1' }).stdout,
    ]) {
      expect(plain).toContain(sha);
      expect(plain).not.toContain('\u001b]8');
    }
    expectWhole(folder);
  });

  promiseTest('cli/people-show', 'in local time, or in UTC', async () => {
    const folder = await createStory();
    const createdAt = (args: readonly string[], TZ: string) =>
      Date.parse(/created +(\S+ \S+) by/.exec(colibri(folder, ['show', '1', ...args], { TZ }).stdout)?.[1] ?? '');
    // Both are read in the zone of this process, so that they differ as the zones do.
    const hours = (createdAt([], 'Asia/Tokyo') - createdAt([], 'UTC')) / 3_600_000;
    expect(hours).toBe(9);
    expect(createdAt(['--utc'], 'Asia/Tokyo')).toBe(createdAt(['--utc'], 'UTC'));
    const { stdout } = colibri(folder, ['show', '1', '--utc']);
    expect(stdout).toMatch(/created +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ by/);
    expect(stdout).not.toMatch(/\d\d:\d\d:\d\d(?!Z)/);
  });

  promiseTest('cli/people-show', 'prints fields, decisions, sessions, history and a verdict', async () => {
    const folder = await createStory();
    const { stdout, stderr, status } = colibri(folder, ['show', '1']);
    expect([stderr, status]).toEqual(['', 0]);
    const text = stdout
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?!Z)/g, 'TIME')
      .replace(/[0-9a-f]{64}/, 'ROOT')
      .replace(/since entry \d+, silent for [\dsmh ]+/, 'since entry N, silent for 1s');
    expect(text.split('\n')).toEqual([
      'T-0001  Move sessions to the new store',
      '  status      blocked',
      '  priority    high',
      '  progress    0 %',
      '  assignee    claude',
      '  claim       held by claude, since entry N, silent for 1s',
      '  blocked     staging is down',
      '  waits for   T-0002',
      '  project     default, task 1 in it',
      '  workflow    board, attempt 1',
      '  labels      backend, login',
      '  estimate    3 h',
      '  children    T-0002',
      '  commits     abcdef1 on sessions (Θ-0001, said)',
      '  created     TIME by planner',
      '  updated     TIME by claude',
      '',
      '  They are lost at every restart.',
      '',
      '  Keep the cookies as they are.',
      '',
      'Decisions',
      '● decision by claude',
      '│ TIME · Θ-0001 · A-0001',
      '│ One table, because a second store would have to be backed up as well.',
      '│ branch: sessions',
      '│ commit_sha: abcdef1 (said)',
      '│ tests_run: npm test (said)',
      '│ tests_run: npm run load (said)',
      '│ blockers: no staging',
      '│ metadata: {"reviewers":2}',
      '│',
      '● risk by claude',
      '│ TIME · Θ-0002 · A-0001',
      '│ The old cookies expire.',
      '│',
      '',
      'Sessions',
      'A-0001  sealed with 4 records',
      '  deep session of T-0001, opened TIME by claude, naming as auditor "ada"',
      '  sealed TIME',
      '  for the audit',
      '  root ROOT',
      '',
      'History',
      'TIME  planner',
      '  created as todo',
      'TIME  claude',
      '  todo → in_progress, assignee unassigned → claude, holder none → claude',
      'TIME  claude',
      '  in_progress → blocked, blocked_reason: staging is down',
      '',
      '✔ T-0001 verifies: 2 decisions and 3 changes are as they were recorded.',
      '',
    ]);
  });

  promiseTest(
    'cli/people-show',
    'lists the session that covers it through its parent, and what waits for it',
    async () => {
      const folder = await createStory();
      const shown = JSON.parse(colibri(folder, ['show', 't-2', '--json']).stdout) as {
        sessions: { session_id: string }[];
      };
      expect(shown.sessions.map(({ session_id }) => session_id)).toEqual(['A-0001']);
      expect(shown).toMatchObject({ awaited_by: ['T-0001'], claim: null, commits: [] });
      expect(colibri(folder, ['show', '2']).stdout).toContain('\n  awaited by  T-0001\n');
    },
  );

  promiseTest('cli/show-claim', 'who holds it, since which entry, and whether the claim has lapsed', async () => {
    const folder = createProject();
    const open = (agent: Agent, task_id: string) => agent('task_update', { task_id, status: 'in_progress' });
    await withAgent(folder, 'claude', async (agent) => {
      for (const title of ['One', 'Two']) await agent('task_create', { title, status: 'todo' });
      await open(agent, 'T-0001');
    });
    await tamper(folder, 'UPDATE presence SET clock_ms = clock_ms - 3 * 3600 * 1000');
    expect(colibri(folder, ['show', '1']).stdout).toMatch(
      /\n {2}claim {7}held by claude, since entry \d+, lapsed: silent for 3h\S*, so another agent may take it over\n/,
    );
    await withAgent(folder, 'codex', (agent) => open(agent, 'T-0001'));
    expect(JSON.parse(colibri(folder, ['show', '1', '--json']).stdout)).toMatchObject({
      claim: { holder: 'codex', taken_from: 'claude', lapsed: false, claim: expect.any(Number) as number },
    });
    expect(colibri(folder, ['show', '1']).stdout).toContain(', taken over from claude, silent for ');
    expectWhole(folder);
  });

  promiseTest('cli/show-claim', 'a finished task has no percentage, and nothing waits for it', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', async (agent) => {
      await agent('task_create', { title: 'One', status: 'todo' });
      await agent('task_create', { title: 'Two', depends_on: ['T-0001'] });
      await agent('task_update', { task_id: 'T-0001', status: 'cancelled', progress: 40 });
    });
    const { stdout } = colibri(folder, ['show', '1']);
    expect(stdout).not.toContain('%');
    expect(stdout).not.toContain('awaited by');
  });

  promiseTest('cli/people-show', 'respects the width of the terminal', async () => {
    const folder = await createStory();
    for (const columns of [30, 40, 80, 200]) {
      const { stdout } = colibriOnTerminal(folder, columns, ['show', '1'], { NO_COLOR: '1' });
      expect(Math.max(...stdout.split('\n').map(displayWidth))).toBeLessThanOrEqual(columns);
    }
  });

  promiseTest('cli/people-show', 'prints the verdict in green if it verifies', async () => {
    const folder = await createStory();
    expect(colibriOnTerminal(folder, 80, ['show', '1']).stdout).toContain('\u001b[32m✔ T-0001 verifies');
  });

  const forgeries: [string, string, RegExp][] = [
    [
      'a decision',
      "UPDATE thoughts SET content = 'Two tables.' WHERE thought_no = 1",
      /its content does not give its hash/,
    ],
    ['who decided', "UPDATE thoughts SET recorded_by = 'someone' WHERE thought_no = 1", /Θ-0001: /],
    [
      'what hangs on a decision',
      "UPDATE thoughts SET extras = 'no JSON' WHERE thought_no = 1",
      /its field extras differs/,
    ],
    ['the last decision, removed', 'DELETE FROM thoughts WHERE thought_no = 1', /it does not follow|position/],
    ['the task itself', "UPDATE tasks SET assignee = 'someone' WHERE task_no = 1", /not what its last change made it/],
    ['a change', "UPDATE task_versions SET content = replace(content, 'claude', 'mallet')", /differs from the log/],
    ['a change, to no JSON', "UPDATE task_versions SET content = '[' WHERE task_no = 1", /differs from the log/],
    [
      'the creation, removed',
      'DELETE FROM task_versions WHERE idx IN (SELECT MIN(idx) FROM task_versions)',
      /creation is missing/,
    ],
    [
      'a seal',
      `UPDATE sessions SET root = '${'0'.repeat(64)}'`,
      /do not give its sealed root|differs from the entry that sealed it/,
    ],
  ];
  for (const [what, sql, problem] of forgeries) {
    promiseTest('cli/people-show', `prints the verdict in red after a forgery: ${what}`, async () => {
      const folder = await createStory();
      await tamper(folder, sql);
      const { stdout, status } = colibriOnTerminal(folder, 200, ['show', '1']);
      expect(status).toBe(4);
      expect(stdout).toContain('\u001b[31m✘ T-0001 does NOT verify');
      expect(stdout).toMatch(problem);
      expect(JSON.parse(colibri(folder, ['show', '1', '--json']).stdout)).toMatchObject({ verdict: 'tampered' });
    });
  }

  for (const sql of ["UPDATE tasks SET labels = '['", 'UPDATE tasks SET priority = 9']) {
    promiseTest('cli/people-wrong', `a row that can no longer be read: ${sql}`, async () => {
      const folder = await createStory();
      await tamper(folder, sql);
      const { stdout, stderr, status } = colibri(folder, ['show', '1']);
      expect([stdout, status]).toEqual(['', 2]);
      expect(stderr).toMatch(
        /^colibri show: .*; run colibri verify to find out whether the ledger was tampered with\n$/,
      );
      expect(colibri(folder, ['verify']).status).toBe(1);
    });
  }

  promiseTest('cli/people-wrong', 'names the last task when the requested one does not exist', async () => {
    const folder = await createStory();
    const message = 'no task T-0099: the last one is T-0002; run colibri board to see existing tasks';
    expect(colibri(folder, ['show', '99'])).toEqual({ stdout: '', stderr: `colibri show: ${message}\n`, status: 1 });
    expect(colibri(folder, ['show', '99', '--json'])).toEqual({
      stdout: `${JSON.stringify({ error: message })}\n`,
      stderr: '',
      status: 1,
    });
    expect(colibri(folder, ['next', '--project', 'web']).stderr).toBe(
      'colibri next: no project web; choose one of these: default\n',
    );
  });
});
