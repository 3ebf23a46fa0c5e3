import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { CliProject } from '../support/cli-project.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { GitProject, gitEnvironment } from './git-project.ts';

interface Report {
  readonly verdict: string;
  readonly git?: {
    readonly shallow: boolean;
    readonly commits: Record<string, number>;
    readonly checkpoints: Record<string, number>;
  };
}

async function verify(project: CliProject, cwd = project.folder): Promise<{ status: number | null; report: Report }> {
  const { status, stdout } = await project.runWith({ cwd }, 'verify', '--git', '--json');
  return { status, report: JSON.parse(stdout) as Report };
}

describe('colibri verify --git', () => {
  promiseTest('git/verify', 'an honest ledger, one that was cut, and one that was replaced', async () => {
    const project = new GitProject();
    await project.run('add', 'First');
    await project.initRecord();
    const first = project.commit('one', 'one');
    project.git('commit', '-q', '--amend', '-m', 'amended');
    project.git('-c', 'gc.reflogExpire=now', 'reflog', 'expire', '--expire=now', '--all');
    project.git('gc', '-q', '--prune=now');
    expect(project.tryGit({}, 'cat-file', '-e', first).status).not.toBe(0);
    await project.ingest();
    copyFileSync(project.ledger, project.path('older.db'));
    await project.run('add', 'Second');
    project.commit('two', 'two');
    const { stderr: early } = await project.run('verify', '--git');
    expect(early).toContain('1 reported event not in the ledger yet');
    await project.ingest();
    const { status, stdout, stderr } = await project.run('verify', '--git');
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^whole: \d+ entries, root [0-9a-f]{64}\ngit: 2 of 3 recorded commits are in this repository/,
    );
    expect(stdout).toContain('in this repository, 1 was rewritten and removed\n');
    expect(stdout).toContain('git: the log extends 2 of 2 checkpoints in commits\nNote this elsewhere');
    const honest = await verify(project);
    expect(honest).toMatchObject({ status: 0, report: { verdict: 'whole', git: { shallow: false } } });

    // Without a branch, no commit is a witness.
    const tip = project.git('rev-parse', 'HEAD');
    project.git('update-ref', '-d', 'refs/heads/main');
    const alone = await project.run('verify', '--git');
    expect([alone.status, alone.stdout]).toEqual([2, expect.stringContaining('Nothing was compared with the log')]);
    project.git('update-ref', 'refs/heads/main', tip);

    // An older backup is consistent in itself; the commit is the witness.
    const newest = project.path('newest.db');
    copyFileSync(project.ledger, newest);
    replaceLedger(project, project.path('older.db'));
    expect((await project.run('verify')).status).toBe(0);
    const cut = await project.run('verify', '--git');
    expect(cut.status).toBe(1);
    expect(cut.stdout).toMatch(
      /CONTRADICTED: commit [0-9a-f]{12} has a checkpoint of \d+ entries, but the log has \d+; the log was cut/,
    );
    expect(cut.stdout).toContain('TAMPERED: the log and the commits of this repository contradict each other');
    expect(await verify(project)).toMatchObject({
      status: 1,
      report: {
        verdict: 'tampered',
        git: { commits: { contradicted: 0 }, checkpoints: { contradicted: 1, extended: 1 } },
      },
    });

    rmSync(project.path('.colibri'), { recursive: true });
    await project.run('add', 'A new ledger');
    const replaced = await project.run('verify', '--git');
    expect([replaced.status, replaced.stdout]).toEqual([2, expect.stringContaining('was it replaced?')]);

    // The ledger of another repository, and a folder without one.
    const other = new GitProject();
    other.commit('unrelated');
    mkdirSync(other.path('.colibri'), { mode: 0o700 });
    replaceLedger(other, newest);
    const foreign = await other.run('verify', '--git');
    expect([foreign.status, foreign.stdout]).toEqual([2, expect.stringContaining('the ledger of another repository')]);
    const plain = new CliProject();
    cpSync(other.path('.colibri'), plain.path('.colibri'), { recursive: true });
    const outside = await plain.run('verify', '--git');
    expect([outside.status, outside.stderr]).toEqual([
      2,
      expect.stringMatching(/repository cannot be read: .*not a git/),
    ]);
  });

  promiseTest('git/verify', 'a commit that is made while verify reads', async () => {
    const project = new GitProject();
    await project.run('add', 'First');
    await project.initRecord();
    project.commit('one', 'one');
    await project.ingest();
    // The first thing that verify asks git takes long enough for another task and another commit.
    project.writeHook('bin/git', COMMIT_FIRST);
    const { PATH = '', ...variables } = gitEnvironment();
    const env = {
      ...variables,
      PATH: `${project.path('bin')}:${PATH}`,
      TRUE_PATH: PATH,
      NODE: process.execPath,
      PROGRAM,
    };
    expect(await project.runWith({ env }, 'verify', '--git')).toMatchObject({ status: 0 });
    expect(project.git('log', '-1', '--format=%B')).toMatch(/^two\n(?:.*\n)*Colibri-Checkpoint: /);
  });

  promiseTest('git/verify', 'a clone without its history says "cannot tell", and no object is fetched', async () => {
    const project = new GitProject();
    await project.run('add', 'First');
    await project.initRecord();
    for (const name of ['one', 'two']) project.commit(name, name);
    await project.ingest();
    const clone = new GitProject();
    rmSync(clone.path('.git'), { recursive: true });
    clone.git('clone', '-q', '--depth=1', `file://${project.folder}`, 'shallow');
    mkdirSync(clone.path('shallow/.colibri'), { mode: 0o700 });
    copyFileSync(project.ledger, clone.path('shallow/.colibri/colibri.db'));
    const shallow = await verify(clone, clone.path('shallow'));
    expect(shallow).toMatchObject({
      status: 2,
      report: { verdict: 'cannot tell', git: { shallow: true, commits: { present: 1, missing: 1, contradicted: 0 } } },
    });
    // A partial clone would ask its remote for what is missing, by a command of its configuration.
    const partial = clone.path('shallow');
    const fetched = clone.path('fetched');
    clone.gitWith({ cwd: partial }, 'config', 'remote.origin.promisor', 'true');
    clone.gitWith({ cwd: partial }, 'config', 'remote.origin.url', `ext::touch ${fetched}`);
    clone.gitWith({ cwd: partial }, 'config', 'protocol.ext.allow', 'always');
    clone.tryGit({ cwd: partial }, 'cat-file', '-e', 'ab'.repeat(20));
    expect(existsSync(fetched)).toBe(true);
    rmSync(fetched);
    expect((await verify(clone, partial)).status).toBe(2);
    expect(existsSync(fetched)).toBe(false);
  });
});

/** Closed ledgers have no side files. */
function replaceLedger(project: GitProject, file: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(project.ledger + suffix, { force: true });
  copyFileSync(file, project.ledger);
}

const COMMIT_FIRST = `#!/bin/sh
PATH=$TRUE_PATH
if mkdir "$0.once" 2>/dev/null; then
  "$NODE" "$PROGRAM" add Second >/dev/null
  echo two >two && git add two && git commit -q -m two
fi
exec git "$@"
`;
