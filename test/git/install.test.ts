import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect } from 'vitest';
import { snapshot } from '../init/init-project.ts';
import { promiseTest } from '../support/promise-test.ts';
import { GitProject, gitEnvironment } from './git-project.ts';

const HOOKS = ['prepare-commit-msg', 'commit-msg', 'post-commit', 'post-merge', 'post-applypatch', 'post-rewrite'];

/** The files of the repository that are not objects, with their bytes and modes. */
function filesOf(project: GitProject): Record<string, string> {
  const all = snapshot(project.folder);
  return Object.fromEntries(
    Object.entries(all).filter(([path]) => !/^\.git\/(?:objects|logs|refs)(?:\/|$)/.test(path)),
  );
}

const undo = async (project: GitProject) => expect((await project.run('init', '--undo')).status).toBe(0);

describe('the hooks of a repository', () => {
  promiseTest(
    'git/install',
    'scripts of every kind keep running with their arguments, input and exit code',
    async () => {
      const project = new GitProject();
      const say = (name: string) => `printf '%s %s\\n' ${name} "$*" >> "$PWD/said"; cat >> "$PWD/said"`;
      project.writeHook('.git/hooks/post-commit', `#!/usr/bin/env -S bash -eu\n${say('commit')}\nexit 3\n`);
      project.writeHook('.git/hooks/post-rewrite', `#!${process.execPath}\n${NODE_HOOK}`);
      project.writeHook('.git/hooks/commit-msg', '#!/bin/sh');
      project.writeHook('.git/hooks/prepare-commit-msg', '');
      project.writeHook('.git/hooks/pre-commit', '#!/bin/sh\nexit 0\n');
      const before = filesOf(project);
      const shown = await project.initRecord();
      expect(shown).toContain('+++ .git/hooks/post-commit');
      const installed = filesOf(project);
      await project.initRecord();
      expect(filesOf(project)).toEqual(installed);

      const first = project.commit('one', 'one');
      project.git('commit', '-q', '--amend', '-m', 'two');
      const said = readFileSync(project.path('said'), 'utf8').split('\n');
      const amended = project.git('rev-parse', 'HEAD');
      expect(said).toEqual(['commit ', 'commit ', 'rewrite amend', `${first} ${amended}`, '']);
      expect(project.reports().flatMap(({ commits }) => commits)).toHaveLength(4);

      rmSync(project.path('said'));
      rmSync(project.spool, { recursive: true });
      await undo(project);
      for (const name of ['COMMIT_EDITMSG', 'index', 'ORIG_HEAD'])
        rmSync(project.path(`.git/${name}`), { force: true });
      rmSync(project.path('one'));
      expect(filesOf(project)).toEqual(before);
    },
  );

  promiseTest('git/install', 'a fresh repository, and lines that a person edited', async () => {
    const project = new GitProject();
    rmSync(project.path('.git/hooks'), { recursive: true, force: true });
    const before = filesOf(project);
    await project.initRecord();
    for (const hook of HOOKS) expect(statSync(project.path(`.git/hooks/${hook}`)).mode & 0o111).toBe(0o111);
    await undo(project);
    expect(filesOf(project)).toEqual(before);

    await project.initRecord();
    const hook = project.path('.git/hooks/post-commit');
    writeFileSync(hook, `${readFileSync(hook, 'utf8')}echo mine\n`);
    const broken = project.path('.git/hooks/commit-msg');
    writeFileSync(broken, readFileSync(broken, 'utf8').replace('# <<< colibri', ''));
    // Lines of an earlier version are replaced.
    const old = project.path('.git/hooks/post-rewrite');
    const current = readFileSync(old, 'utf8');
    writeFileSync(old, current.replace('colibri_input=$(cat)', 'colibri_input=older'));
    await project.initRecord();
    expect(readFileSync(old, 'utf8')).toBe(current);
    // Another tool wrote its own hook over this one.
    writeFileSync(old, '#!/bin/sh\n');
    expect((await project.run('doctor')).stdout).toMatch(
      /^warn +recorder +git: commits are not recorded by post-rewrite$/m,
    );
    writeFileSync(old, current);
    expect((await project.run('doctor')).stdout).toMatch(
      /^ok +recorder +git: commits are recorded by prepare-commit-msg, /m,
    );
    writeFileSync(project.path('.git/colibri/hook'), '#!/bin/sh\n');
    expect((await project.run('doctor')).stdout).toContain('.git/colibri/hook starts a different program');
    await project.run('init', '--no-instructions', 'claude-code');
    expect((await project.run('doctor')).stdout).toMatch(/^ok +recorder +git: commits are recorded/m);
    const { stdout } = await project.run('init', '--undo');
    expect(stdout).toContain('commit-msg: the lines of Colibri have been modified and are left unchanged');
    expect(readFileSync(hook, 'utf8')).toBe('#!/bin/sh\necho mine\n');
    expect([existsSync(old), existsSync(broken)]).toEqual([false, true]);
    // What is left does nothing without the program.
    project.commit('after undo');
  });

  promiseTest('git/install', 'husky, a folder of the project and lefthook', async () => {
    const husky = new GitProject();
    husky.git('config', 'core.hooksPath', '.husky/_');
    husky.writeHook('.husky/_/h', HUSKY);
    for (const hook of HOOKS) husky.writeHook(`.husky/_/${hook}`, '#!/usr/bin/env sh\n. "$(dirname "$0")/h"');
    husky.writeHook('.husky/post-commit', 'echo husky\n', 0o644);
    const before = filesOf(husky);
    await husky.initRecord();
    const text = readFileSync(husky.path('.husky/post-commit'), 'utf8');
    expect([text.includes(process.execPath), text.includes(husky.folder)]).toEqual([false, false]);
    husky.commit('with husky');
    expect(husky.reports()).toHaveLength(1);
    // A clone has the lines, and nothing that they could start.
    husky.git('add', '.husky');
    husky.git('commit', '-q', '-m', 'share the hooks');
    const clone = husky.path('clone');
    husky.git('clone', '-q', '.', clone);
    const env = gitEnvironment();
    const made = ['-c', 'core.hooksPath=.husky/_', 'commit', '-q', '--allow-empty', '-m', 'in a clone'];
    const inClone = spawnSync('git', made, { cwd: clone, env, encoding: 'utf8' });
    expect([inClone.status, inClone.stderr]).toEqual([0, 'husky\n']);
    rmSync(clone, { recursive: true });
    rmSync(husky.spool, { recursive: true });
    await undo(husky);
    for (const name of ['COMMIT_EDITMSG', 'index']) rmSync(husky.path(`.git/${name}`));
    rmSync(husky.path('file'));
    expect(filesOf(husky)).toEqual(before);

    const shared = new GitProject();
    shared.git('config', 'core.hooksPath', 'tools/hooks');
    shared.writeHook('tools/hooks/post-commit', '#!/bin/sh\nexec lefthook run post-commit\n');
    const notes = await shared.initRecord();
    expect(notes).toContain('lefthook install writes this hook again');
    expect(existsSync(shared.path('tools/hooks/post-rewrite'))).toBe(true);
    expect(existsSync(shared.path('.git/hooks/post-rewrite'))).toBe(false);
  });

  promiseTest('git/install', 'a hook of one line, and a core.hooksPath that was changed since', async () => {
    const project = new GitProject();
    project.writeHook('.git/hooks/post-commit', '#!/bin/sh\n');
    project.writeHook('.git/hooks/post-rewrite', `#!${process.execPath}\n${NODE_HOOK}`);
    const withoutSettings = () => ({ ...filesOf(project), '.git/config': '' });
    const before = withoutSettings();
    for (const value of ['.githooks', '', '/outside', undefined]) {
      await project.initRecord();
      if (value !== undefined) project.git('config', 'core.hooksPath', value);
      expect((await project.run('doctor')).stdout.includes('git: commits are recorded')).toBe(value === undefined);
      await undo(project);
      expect(withoutSettings()).toEqual(before);
      if (value !== undefined) project.git('config', '--unset', 'core.hooksPath');
    }
    // Twice, with a setting in between: both places are cleared, and what a person put there stays.
    await project.initRecord();
    project.git('config', 'core.hooksPath', 'hooks');
    project.writeHook('hooks/commit-msg', '#!/bin/sh\n');
    await project.initRecord();
    project.git('config', '--unset', 'core.hooksPath');
    await undo(project);
    expect(readdirSync(project.path('hooks'))).toEqual(['commit-msg']);
    expect(readFileSync(project.path('hooks/commit-msg'), 'utf8')).toBe('#!/bin/sh\n');
    rmSync(project.path('hooks'), { recursive: true });
    expect(withoutSettings()).toEqual(before);

    await project.initRecord();
    writeFileSync(project.path('.git/colibri/installed.json'), '{"v":1}');
    expect((await project.run('init', '--undo')).stderr).toContain('.git/colibri/installed.json is damaged');
  });

  promiseTest('git/install', 'the hooks stay as long as one project of the repository records', async () => {
    const project = new GitProject();
    const before = filesOf(project);
    const init = ['init', '--record', '--no-instructions', 'claude-code'];
    const within = async (name: string, ...args: readonly string[]) => {
      const run = await project.runWith({ cwd: project.path(name) }, ...args);
      expect([run.stderr, run.status]).toEqual(['', 0]);
      return run.stdout;
    };
    for (const name of ['app', 'lib', 'gone']) {
      mkdirSync(project.path(`${name}/.colibri`), { recursive: true, mode: 0o700 });
      await within(name, ...init);
    }
    rmSync(project.path('gone'), { recursive: true });
    const installed = readFileSync(project.path('.git/hooks/post-commit'), 'utf8');
    expect(await within('app', 'init', '--undo')).toMatch(
      /^git: the hooks stay, because they record commits for lib, too$/m,
    );
    // Again, and with an init that does not record: neither counts.
    await within('app', 'init', '--no-instructions', 'claude-code');
    await within('app', 'init', '--undo');
    expect(readFileSync(project.path('.git/hooks/post-commit'), 'utf8')).toBe(installed);
    expect(await within('lib', 'init', '--undo')).not.toContain('the hooks stay');
    for (const name of ['app', 'lib']) rmSync(project.path(name), { recursive: true });
    expect(filesOf(project)).toEqual(before);
  });

  promiseTest('git/untrusted', 'hooks outside the project, behind a link, of another repository', async () => {
    const victim = new GitProject();
    const refusal = async (project: GitProject, problem: RegExp) => {
      const before = filesOf(victim);
      expect(await project.initRecord()).toMatch(problem);
      expect(existsSync(project.path('.git/colibri'))).toBe(false);
      expect(filesOf(victim)).toEqual(before);
      await undo(project);
      expect(filesOf(victim)).toEqual(before);
    };
    for (const [value, problem] of [
      [victim.path('.git/hooks'), /core\.hooksPath names .*, outside the project; commits are not recorded/],
      ['../outside', /outside the project/],
      ['linked', /linked is a symbolic link/],
      ['linked/deeper', /linked is a symbolic link/],
      ['file', /file is not a folder/],
      ['', /core\.hooksPath is empty or .*, so git runs no hooks; commits are not recorded/],
      ['.', /names the project itself/],
    ] as const) {
      const project = new GitProject();
      symlinkSync(victim.path('.git/hooks'), project.path('linked'));
      writeFileSync(project.path('file'), '');
      project.git('config', 'core.hooksPath', value);
      await refusal(project, problem);
      expect(HOOKS.filter((hook) => existsSync(project.path(hook)))).toEqual([]);
    }
    const emptied = new GitProject();
    await emptied.initRecord();
    emptied.git('config', 'core.hooksPath', '');
    expect((await emptied.run('doctor')).stdout).not.toContain('commits are recorded');
    const pointing = new GitProject();
    rmSync(pointing.path('.git'), { recursive: true });
    writeFileSync(pointing.path('.git'), `gitdir: ${victim.path('.git')}\n`);
    await refusal(pointing, /leads to a repository that does not know it/);
    rmSync(pointing.path('.git'));
    symlinkSync(victim.path('.git'), pointing.path('.git'));
    await refusal(pointing, /leads to a repository that does not know it/);
  });

  promiseTest(
    'git/untrusted',
    'hooks that are links, binaries or switched off are left alone, with a note',
    async () => {
      const project = new GitProject();
      mkdirSync(project.path('scripts'));
      project.writeHook('scripts/hook.sh', '#!/bin/sh\n');
      rmSync(project.path('.git/hooks'), { recursive: true, force: true });
      mkdirSync(project.path('.git/hooks'));
      symlinkSync(project.path('scripts/hook.sh'), project.path('.git/hooks/post-commit'));
      project.writeHook('.git/hooks/post-rewrite', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0xfe]));
      project.writeHook('.git/hooks/commit-msg', '#!/bin/sh\nexit 1\n', 0o644);
      const before = filesOf(project);
      const output = await project.initRecord();
      expect(output).toMatch(/post-commit is a symbolic link and is left unchanged/);
      expect(output).toMatch(/post-rewrite is not a text in UTF-8 and is left unchanged/);
      expect(output).toMatch(/commit-msg is not executable and is left unchanged/);
      expect(readFileSync(project.path('scripts/hook.sh'), 'utf8')).toBe('#!/bin/sh\n');
      expect(existsSync(project.path('.git/hooks/prepare-commit-msg'))).toBe(true);
      await undo(project);
      expect(filesOf(project)).toEqual(before);

      const bare = new GitProject();
      rmSync(bare.path('.git'), { recursive: true });
      bare.git('init', '-q', '--bare');
      const args = ['init', '--record', '--no-instructions', 'claude-code'];
      const { stdout } = await bare.run(...args);
      expect(stdout).toContain('a bare repository has no work tree');
      expect(existsSync(bare.path('hooks/post-commit'))).toBe(false);
    },
  );
});

const NODE_HOOK = `const { appendFileSync, readFileSync } = require('node:fs');
appendFileSync('said', 'rewrite ' + process.argv.slice(2).join(' ') + '\\n' + readFileSync(0, 'utf8'));
`;

/** What husky 9 writes, without its comments. */
const HUSKY = `#!/usr/bin/env sh
n=$(basename "$0")
s=$(dirname "$(dirname "$0")")/$n
[ ! -f "$s" ] && exit 0
sh -e "$s" "$@"
`;
