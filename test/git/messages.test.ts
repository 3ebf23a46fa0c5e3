import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { readCommits } from '../../src/git/read-commits.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { GitProject, gitEnvironment } from './git-project.ts';

const CHECKPOINT = /^Colibri-Checkpoint: \d+:[0-9a-f]{64}$/m;
const ALL = /^(.*)\n\nColibri-Task: (T-\d+)\nColibri-Checkpoint: \d+:[0-9a-f]{64}\nColibri-Ledger: [0-9a-f]{8}$/s;

const trailersOf = (project: GitProject, key: string) =>
  project.git('log', '-1', `--format=%(trailers:key=${key},valueonly)`);

async function readTrailers(project: GitProject) {
  for await (const { trailers } of readCommits('HEAD', { cwd: project.folder, env: gitEnvironment() })) return trailers;
  return undefined;
}

describe('trailers of commit messages', () => {
  promiseTest('git/trailers', 'the task of a live agent, whatever the message looks like', async () => {
    const project = new GitProject();
    const agent = await project.openAgent('alice');
    await call(agent, 'task_create', { title: 'One', status: 'todo' });
    await call(agent, 'task_update', { task_id: 'T-0001', status: 'in_progress' });
    await project.initRecord();
    project.commit('plain');
    expect(ALL.exec(project.message())?.slice(1)).toEqual(['plain', 'T-0001']);
    const before = project.message();
    project.git('commit', '-q', '--amend', '--no-edit');
    expect(project.message()).toBe(before);
    const [, checkpoint = ''] = /Checkpoint: (\S+)/.exec(before) ?? [];
    expect((await project.run('verify', '--expect', checkpoint)).status).toBe(0);

    // Trailers of others, and words that only look like trailers.
    const body = 'title\n\nColibri-Checkpoint is no trailer here\n\n  Colibri-Task: T-0007\n\ntext';
    project.commit(`${body}\n\nSigned-off-by: Ada <ada@example.org>`);
    expect(project.message()).toMatch(/\n\nSigned-off-by: Ada <ada@example.org>\nColibri-Task: T-0001\n/);
    // The line that ends a message in an e-mail is part of it in a commit.
    project.commit('divided\n\nabove\n\n---\n\nbelow');
    expect(ALL.exec(project.message())?.[1]).toBe('divided\n\nabove\n\n---\n\nbelow');
    expect(trailersOf(project, 'Colibri-Task')).toBe('T-0001');
    project.commit('divided\n\nabove\n\n---\nbelow\n\nColibri-Task: T-0041');
    expect(trailersOf(project, 'Colibri-Task')).toBe('T-0041');
    expect(await readTrailers(project)).toMatchObject({ task: ['T-0041'], checkpoint: [expect.any(String)] });
    project.commit('named\n\nColibri-Task: T-0042');
    expect(trailersOf(project, 'Colibri-Task')).toBe('T-0042');
    project.commit('forged\n\nColibri-Checkpoint: 3:00');
    expect(project.message()).toBe('forged\n\nColibri-Checkpoint: 3:00');

    // Another character for comments, and an editor that leaves no line break at the end.
    const editor = project.path('editor.sh');
    writeFileSync(editor, '#!/bin/sh\nprintf "; a comment\\n# kept\\nend" > "$1"\n', { mode: 0o755 });
    const env = { GIT_EDITOR: editor };
    project.gitWith({ env }, '-c', 'core.commentChar=;', 'commit', '-q', '--allow-empty');
    expect(ALL.exec(project.message())?.[1]).toBe('# kept\nend');

    // A message that stays empty ends a commit as before.
    for (const args of [[], ['--verbose']]) {
      const empty = project.tryGit({ env: { GIT_EDITOR: 'true' } }, 'commit', '--allow-empty', ...args);
      expect([empty.status, empty.stderr]).toEqual([1, expect.stringContaining('empty commit message')]);
    }
    await agent.close();
    project.commit('alone');
    expect(project.message()).toMatch(/^alone\n\nColibri-Checkpoint: \S+\nColibri-Ledger: \S+$/);
  });

  promiseTest('git/trailers', 'none for a merge, a squash, a rebase or without a ledger', async () => {
    const project = new GitProject();
    await project.initRecord();
    project.commit('no ledger');
    expect(project.message()).toBe('no ledger');
    await project.run('add', 'A task');
    project.git('checkout', '-q', '-b', 'side');
    project.git('-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-m', 'old');
    project.git('checkout', '-q', 'main');
    project.commit('new', 'new');
    project.git('checkout', '-q', 'side');
    project.git('rebase', '-q', 'main');
    expect(project.message()).toBe('old');
    project.git('checkout', '-q', '--detach', 'main~1');
    project.git('merge', '-q', '--no-ff', '-m', 'merged', 'main');
    expect(project.message()).toBe('merged');
    project.git('checkout', '-q', '--detach', 'main~1');
    project.git('merge', '-q', '--squash', 'main');
    project.gitWith({ env: { GIT_EDITOR: 'true' } }, 'commit', '-q');
    expect(project.message()).not.toMatch(/^Colibri-Ledger/m);
  });

  promiseTest('git/untrusted', 'no command of a configuration runs while trailers are written', async () => {
    const project = new GitProject();
    await project.run('add', 'A task');
    await project.initRecord();
    const command = `touch ${project.path('executed')}`;
    project.git('config', 'trailer.evil.key', 'Evil: ');
    project.git('config', 'trailer.evil.command', command);
    project.git('config', 'core.fsmonitor', command);
    project.git('config', 'log.showSignature', 'true');
    project.git('config', 'gpg.program', command);
    const file = project.path('.git/COMMIT_EDITMSG');
    writeFileSync(file, 'message\n');
    for (const name of ['prepare-commit-msg', 'commit-msg']) {
      expect(await project.run('hook', '--git', name, file)).toEqual({ status: 0, stdout: '', stderr: '' });
    }
    const text = readFileSync(file, 'utf8');
    expect([text.split(CHECKPOINT).length, text.includes('Evil')]).toEqual([2, false]);
    await project.run('hook', '--git', 'post-commit');
    await project.run('verify', '--git');
    expect(existsSync(project.path('executed'))).toBe(false);
  });

  promiseTest('git/never-fails', 'an unusable ledger, message file or folder', async () => {
    const project = new GitProject();
    await project.run('add', 'A task');
    const file = project.path('MESSAGE');
    const said = async (text: RegExp, ...args: readonly string[]) =>
      expect(await project.run('hook', '--git', 'prepare-commit-msg', ...args)).toEqual({
        status: 0,
        stdout: '',
        stderr: expect.stringMatching(text) as string,
      });
    writeFileSync(file, 'message\n');
    await said(/ENOENT.*; no trailers were added to the commit\n$/, project.path('missing'));
    await said(/^$/, project.folder);
    await said(/^$/);
    await said(/^$/, file, 'merge');
    writeFileSync(project.ledger, 'not a database');
    await said(/; no trailers were added to the commit\n$/, file);
    rmSync(project.ledger);
    await said(/^$/, file);
    expect(readFileSync(file, 'utf8')).toBe('message\n');
  });

  promiseTest('git/never-fails', 'a database that does not answer, and a git that does not end', async () => {
    const project = new GitProject();
    project.commit('one');
    mkdirSync(project.path('.colibri'), { mode: 0o700 });
    const file = project.path('MESSAGE');
    writeFileSync(file, 'message\n');
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const slow = project.mkdir('slow');
    writeFileSync(join(slow, 'git'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 });
    const database = { COLIBRI_DATABASE_URL: `postgres://ada@127.0.0.1:${port}/x` };
    const [unanswered, endless] = await Promise.all([
      project.runWith({ env: database }, 'hook', '--git', 'prepare-commit-msg', file),
      project.runWith({ env: { PATH: `${slow}:/usr/bin:/bin` } }, 'hook', '--git', 'post-commit'),
    ]);
    const says = (reason: string) => `colibri hook: ${reason}\n`;
    expect(unanswered).toEqual({
      status: 0,
      stdout: '',
      stderr: says('took longer than 2 seconds; no trailers were added to the commit'),
    });
    expect(endless).toEqual({
      status: 0,
      stdout: '',
      stderr: says('git took longer than 2 seconds; the event is not recorded'),
    });
    expect(readFileSync(file, 'utf8')).toBe('message\n');
  });
});
