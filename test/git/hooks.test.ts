import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { listRecordedCommits } from '../../src/recorder/git/recorded-commits.ts';
import { reportOf } from '../support/cli-project.ts';
import { promiseTest } from '../support/promise-test.ts';
import { GitProject } from './git-project.ts';

const HASH = /^[0-9a-f]{40}$/;

function contents(project: GitProject): unknown[] {
  return project
    .reports()
    .flatMap(({ commits }) => commits.map(({ observation }) => JSON.parse(observation.content) as unknown));
}

describe('the hooks of git', () => {
  promiseTest('git/commits', 'hostile names, an empty one, a detached one and an octopus', async () => {
    const project = new GitProject();
    await project.initRecord();
    const names = [
      'plain',
      'é',
      '"quoted"',
      'line\nbreak',
      'tab\tand\x1b[2J',
      ' ',
      'token=ghp_0123456789abcdefghijklmnop',
    ];
    for (const name of names) writeFileSync(project.path(name), '');
    writeFileSync(Buffer.concat([Buffer.from(`${project.folder}/`), Buffer.from([0x66, 0xff, 0xfe])]), '');
    const branch = 'x$(touch>pwned)";`id`';
    project.git('checkout', '-q', '-b', branch);
    project.git('add', '-A', '--', ':!.claude', ':!.agents', ':!.mcp.json');
    project.git('commit', '-q', '-m', 'first');
    project.git('commit', '-q', '--allow-empty', '-m', 'empty');
    for (const side of ['one', 'two', 'three']) {
      project.git('checkout', '-q', '-b', side, branch);
      project.git('-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-m', side);
    }
    project.git('checkout', '-q', '--detach', branch);
    project.git('merge', '-q', '--no-commit', '--no-ff', 'one', 'two', 'three');
    project.git('commit', '-q', '-m', 'octopus');
    const escaped = ['" "', '"\\"quoted\\""', '"f\\377\\376"', '"line\\nbreak"', 'plain'];
    expect(contents(project)).toEqual([
      { branch, paths: [...escaped, '"tab\\tand\\033[2J"', 'token=[blanked]', 'é'] },
      { branch, paths: [] },
      { paths: [] },
    ]);
    const commits = project.reports().flatMap((report) => report.commits.map(({ observation }) => observation.entry));
    expect(commits.map(({ parents }) => (parents as string[]).length)).toEqual([0, 1, 4]);
    const shas = project.git('log', '--first-parent', '--reverse', '--format=%H %T').split('\n');
    expect(commits.map(({ sha, tree }) => `${sha as string} ${tree as string}`)).toEqual(shas);
    expect(commits.every(({ sha }) => HASH.test(sha as string))).toBe(true);
    expect(readdirSync(project.folder).some((name) => name.includes('pwned'))).toBe(false);
  });

  promiseTest('git/commits', 'a merge and a patch, but no fast-forward', async () => {
    const project = new GitProject();
    project.commit('base', 'base');
    for (const side of ['left', 'right', 'patch']) {
      project.git('checkout', '-q', '-b', side, 'main');
      project.commit(side, `${side}.txt`);
    }
    await project.initRecord();
    const patch = project.git('format-patch', '-1', '--stdout', 'patch');
    project.git('checkout', '-q', 'main');
    project.git('merge', '-q', 'left');
    expect(project.reports()).toEqual([]);
    project.git('merge', '-q', '-m', 'merge it', 'right');
    project.gitWith({ input: patch }, 'am', '-q');
    const commits = project.reports().flatMap((report) => report.commits.map(({ observation }) => observation.entry));
    expect(commits.map(({ sha }) => sha)).toEqual(
      project.git('log', '-2', '--first-parent', '--reverse', '--format=%H').split('\n'),
    );
    // Within the same second, the new commit would be the old one.
    const env = { GIT_COMMITTER_DATE: '2026-04-08T22:00:00Z' };
    project.gitWith({ env }, 'rebase', '-q', '--apply', '--force-rebase', 'HEAD~1');
    expect(
      project
        .reports()
        .slice(2)
        .flatMap((report) => report.commits),
    ).toHaveLength(2);
  });

  promiseTest('git/rewrites', 'amend, rebase and squash, each once', async () => {
    const project = new GitProject();
    await project.run('add', 'A task');
    project.commit('base', 'base');
    await project.initRecord();
    const first = project.commit('first', 'first');
    project.git('commit', '-q', '--amend', '-m', 'amended');
    const amended = project.git('rev-parse', 'HEAD');
    const fixup = project.commit('fixup! amended', 'second');
    const last = project.commit('last', 'last');
    project.gitWith({ env: { GIT_SEQUENCE_EDITOR: ':' } }, 'rebase', '-q', '-i', '--autosquash', 'HEAD~3');
    const [rebased, squashed] = project.git('log', '-2', '--format=%H').split('\n');
    const recorded = await project.ingest();
    const again = await project.ingest();
    expect([recorded.rejected, again]).toEqual([0, { recorded: 0, rejected: 0 }]);
    const commits = await project.withLedger((database) =>
      database.read(async (reader) => {
        const pages = [];
        for await (const page of listRecordedCommits(reader)) pages.push(...page);
        return pages;
      }),
    );
    const made = commits.filter(({ rewrites }) => rewrites === undefined).map(({ sha }) => sha);
    expect(made).toEqual([...new Set(made)]);
    expect(made).toEqual(expect.arrayContaining([first, amended, fixup, last, squashed, rebased]) as string[]);
    const rewritten = commits.flatMap(({ sha, rewrites }) => (rewrites === undefined ? [] : `${rewrites} ${sha}`));
    expect(rewritten.sort()).toEqual(
      [`${first} ${amended}`, `${amended} ${squashed}`, `${fixup} ${squashed}`, `${last} ${rebased}`].sort(),
    );
    expect((await reportOf(project.ledger)).problems).toEqual([]);
  });

  promiseTest('cli/show-claim', 'commits that git reported, without those that were rewritten', async () => {
    const project = new GitProject();
    await project.run('add', 'A task');
    await project.run('start', '1');
    await project.initRecord();
    const named = project.commit('first', 'first');
    project.commit('second', 'second');
    project.git('commit', '-q', '--amend', '-m', 'amended');
    const amended = project.git('rev-parse', 'HEAD');
    await project.run('note', '1', 'Why', '--commit', named.slice(0, 8));
    const missing = 'dead'.repeat(10);
    await project.run('note', '1', 'A commit that does not exist', '--commit', missing);
    const { stdout } = await project.run('show', '1');
    const [, shown] = /^ {2}commits {5}((?:.|\n)*?)\n {2}created/m.exec(stdout) ?? [];
    expect(shown?.replaceAll(/#\d+/g, '#N').split(/\n */)).toEqual([
      `${named.slice(0, 8)} (Θ-0001, observed: entry #N)`,
      `${missing} (Θ-0002, contradicted: not recorded)`,
      `${amended.slice(0, 12)} on main (observed: entry #N)`,
    ]);
    const { commits } = JSON.parse((await project.run('show', '1', '--json')).stdout) as { commits: object[] };
    expect(commits).toMatchObject([
      { commit_sha: named.slice(0, 8), thought_id: 'Θ-0001' },
      { commit_sha: missing, thought_id: 'Θ-0002' },
      { commit_sha: amended, branch: 'main', recorded_by: 'hook:git' },
    ]);
  });

  promiseTest('git/never-fails', 'without node on the path, without the program, and when it is killed', async () => {
    const project = new GitProject();
    await project.run('add', 'A task');
    await project.initRecord();
    const bin = project.mkdir('bin');
    for (const tool of ['git', 'sh', 'grep', 'cat', 'rm', 'sed'])
      symlinkSync(project.gitWith({}, '--exec-path') && which(tool), join(bin, tool));
    project.commit('without node', 'one', { env: { PATH: bin } });
    expect(project.reports()).toHaveLength(1);
    expect(project.message()).toContain('Colibri-Checkpoint: ');

    writeFileSync(project.path('kill.cjs'), KILL);
    const env = { NODE_OPTIONS: `--require ${project.path('kill.cjs')}` };
    project.commit('killed', 'two', { env });
    expect(project.message()).toBe('killed');
    expect(project.reports()).toHaveLength(1);
    expect(readdirSync(project.spool).filter((name) => name.endsWith('.json'))).toHaveLength(1);

    writeFileSync(project.path('.git/colibri/hook'), '#!/bin/sh\nexec /nowhere/node x "$@"\n');
    project.commit('without the program', 'three');
    expect(project.message()).toBe('without the program');
    project.git('-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-m', 'without hooks');
    expect(project.reports()).toHaveLength(1);
  });

  promiseTest(
    'git/commits',
    'in a linked work tree and a submodule, each in the ledger of its repository',
    async () => {
      const project = new GitProject();
      project.commit('base', 'base');
      await project.initRecord();
      const linked = `${project.folder}-linked`;
      project.git('worktree', 'add', '-q', linked);
      project.commit('from the linked work tree', 'linked', { cwd: linked });
      project.git('worktree', 'remove', '--force', linked);
      expect(contents(project)).toEqual([{ branch: expect.stringContaining('linked') as string, paths: ['linked'] }]);

      const library = new GitProject();
      library.commit('library', 'library');
      project.gitWith({}, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.folder, 'inner');
      const inner = project.path('inner');
      await project.runWith({ cwd: inner }, 'init', '--record', '--no-instructions', 'claude-code');
      expect(existsSync(project.path('.git/modules/inner/hooks/post-commit'))).toBe(true);
      project.commit('in the submodule', 'file', { cwd: inner });
      expect(project.reports(join(inner, '.colibri/spool'))).toHaveLength(1);
      expect(contents(project)).toHaveLength(1);
    },
  );

  promiseTest('git/commits', 'nothing is recorded outside a project with a ledger', async () => {
    const project = new GitProject();
    const env = { CLAUDE_PROJECT_DIR: project.mkdir('other') };
    mkdirSync(project.path('other/.colibri'), { mode: 0o700 });
    const { status, stdout, stderr } = await project.runWith({ env }, 'hook', '--git', 'post-commit');
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(readdirSync(project.path('other/.colibri'))).toEqual([]);
    mkdirSync(project.path('.colibri'), { mode: 0o700 });
    const unborn = await project.run('hook', '--git', 'post-commit');
    expect(unborn).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringMatching(/^colibri hook: .*HEAD/) as string,
    });
    const unknown = await project.run('hook', '--git', 'pre-push');
    expect(unknown).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('pre-push is not a git hook') as string,
    });
  });
});

function which(tool: string): string {
  return ['/usr/bin', '/bin', '/usr/local/bin'].map((folder) => join(folder, tool)).find(existsSync) ?? tool;
}

/** Ends the process by a signal before a file gets its final name, and before the ledger is opened. */
const KILL = `
const fs = require('node:fs');
for (const name of ['renameSync', 'lstatSync']) {
  const original = fs[name];
  fs[name] = (path, ...rest) => {
    if (/spool|COMMIT_EDITMSG/.test(String(path)) && (name === 'renameSync' || /EDITMSG/.test(String(path))))
      process.kill(process.pid, 'SIGKILL');
    return original(path, ...rest);
  };
}
`;
