import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject } from 'vitest';
import { parse } from 'yaml';
import { ciJob } from '../../src/cli/witnesses/ci-job.ts';
import { gitEnvironment } from '../git/git-project.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { SigningProject } from './support.ts';

/** Two clones of one remote: Alice works, CI compares. */
class SharedProject extends SigningProject {
  readonly ci = this.path('ci');

  constructor() {
    super();
    this.git(this.folder, 'init', '-q', '--bare', '-b', 'main', 'remote.git');
    this.git(this.folder, 'init', '-q', '-b', 'main');
    // Everything else in the folder belongs to the test.
    writeFileSync(this.path('.gitignore'), '/*\n!.colibri/\n');
    this.git(this.folder, 'add', '-f', '.gitignore');
    this.git(this.folder, 'commit', '-q', '-m', 'first');
    this.git(this.folder, 'push', '-q', 'remote.git', 'main');
    this.git(this.folder, 'remote', 'add', 'origin', 'remote.git');
    this.git(this.folder, 'clone', '-q', 'remote.git', 'ci');
    mkdirSync(this.path('bin'));
    writeFileSync(this.path('bin/npx'), `#!/bin/sh\nshift 2\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
    chmodSync(this.path('bin/npx'), 0o755);
  }

  git(cwd: string, ...args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8', env: gitEnvironment() });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  /** Commits and pushes the checkpoint files as they are. */
  push(message: string, branch = 'main'): void {
    this.git(this.folder, 'add', '-A', '.colibri');
    this.git(this.folder, 'commit', '-q', '-m', message);
    this.git(this.folder, 'push', '-q', '-f', 'origin', `HEAD:${branch}`);
  }

  async commitCheckpoint(...titles: readonly string[]): Promise<void> {
    for (const title of titles) await this.colibri('add', title);
    const { status, stderr } = await this.colibri('checkpoint', '--write');
    if (status !== 0) throw new Error(stderr);
    this.push(titles.join());
  }

  /** Runs the job of the workflow as GitHub does, in the clone of CI. */
  runJob(workflow: string, base: string, branch = 'main'): { status: number | null; stdout: string; stderr: string } {
    this.git(this.ci, 'fetch', '-q', 'origin', branch);
    this.git(this.ci, 'checkout', '-q', '--detach', 'FETCH_HEAD');
    const { env, run } = readStep(workflow);
    const PATH = `${this.path('bin')}:${process.env['PATH']}`;
    const variables = { ...gitEnvironment(), PATH, COLIBRI_KEYS: env.COLIBRI_KEYS, BASE: base };
    return spawnSync('bash', ['-e', '-c', run], { cwd: this.ci, encoding: 'utf8', env: variables });
  }
}

function readStep(workflow: string): { env: { COLIBRI_KEYS: string }; run: string } {
  const { jobs } = parse(workflow) as { jobs: { checkpoints: { steps: ReturnType<typeof readStep>[] } } };
  const step = jobs.checkpoints.steps.at(-1);
  if (step === undefined) throw new Error('the workflow has no step');
  return step;
}

describe('a committed checkpoint', () => {
  promiseTest(
    'checkpoint/committed',
    'CI accepts a log that grows, and refuses a rollback, a fork, a removed file and an unknown base',
    async () => {
      const project = new SharedProject();
      await project.commitCheckpoint('one');
      const workflow = (await project.colibri('checkpoint', '--ci')).stdout;
      const shell = (await project.colibri('checkpoint', '--ci', 'shell')).stdout;
      for (const line of readStep(workflow).run.split('\n'))
        expect(shell.replaceAll(/\$\{COLIBRI:-(.*?)\}/g, '$1')).toContain(line);
      const documented = workflow
        .replace(/COLIBRI_KEYS: .*/, 'COLIBRI_KEYS: KEY')
        .replaceAll(/(colibri-mcp)@\S+/g, '$1@VERSION');
      expect(readFileSync('docs/witnesses.md', 'utf8')).toContain(documented);
      const saved = project.save();
      const first = project.git(project.folder, 'rev-parse', 'HEAD');
      await project.commitCheckpoint('two');
      await project.commitCheckpoint('three');
      const grown = project.runJob(workflow, first);
      expect(grown).toMatchObject({ status: 0, stdout: expect.stringContaining('extends the one of 5') as string });
      const head = project.git(project.folder, 'rev-parse', 'HEAD');

      // A backup was restored, and the memory of the user removed: git still knows.
      const config = project.git(project.folder, 'rev-parse', '--git-dir');
      project.rollBackTo(saved);
      rmSync(join(project.config, 'colibri', 'checkpoints'), { recursive: true });
      expect(await project.colibri('checkpoint', '--write')).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('does not extend a checkpoint over 11 entries') as string,
      });
      project.push('rolled back', 'rollback');
      expect(project.runJob(workflow, head, 'rollback')).toMatchObject({
        status: 1,
        stdout: expect.stringContaining('the log has 5 entries and had 11') as string,
      });

      // The same key signs another history, in a folder that git does not know.
      project.git(project.folder, 'reset', '-q', head);
      const git = project.path(config);
      spawnSync('mv', [git, project.path('git-away')]);
      rmSync(project.path('.colibri/checkpoint'));
      for (const title of ['other', 'history', 'longer']) await project.colibri('add', title);
      expect(await project.colibri('checkpoint', '--write')).toMatchObject({ status: 0 });
      spawnSync('mv', [project.path('git-away'), git]);
      project.push('fork', 'fork');
      expect(project.runJob(workflow, head, 'fork')).toMatchObject({ status: 2 });

      // Each run of the job starts the program several times.
      if (inject('run') !== 'torture') return;
      rmSync(project.path('.colibri/checkpoint'));
      project.push('removed', 'removed');
      expect(project.runJob(workflow, head, 'removed')).toMatchObject({ status: 3 });
      expect(project.runJob(workflow, '1'.repeat(40)).status).toBe(128);
    },
  );

  promiseTest('checkpoint/committed', 'CI compares files with any name, and refuses an empty base', () => {
    const project = new SharedProject();
    const name = '.colibri/größer und mehr.checkpoint';
    project.mkdir('.colibri');
    writeFileSync(project.path(name), 'a checkpoint');
    project.git(project.folder, 'add', '-f', name);
    project.git(project.folder, 'commit', '-q', '-m', 'one');
    writeFileSync(project.path('check.sh'), ciJob('shell', { key: 'KEY', version: '1' }).join('\n'));
    const env = { ...gitEnvironment(), COLIBRI: 'echo run' };
    const run = (base: string) => spawnSync('sh', ['check.sh', base], { cwd: project.folder, encoding: 'utf8', env });
    const compared = (old: string) => `run checkpoint --check ${old} --against ${name} --key KEY\n`;
    expect(run('HEAD')).toMatchObject({ status: 0, stdout: compared('-') + compared(name) });
    expect(run('0'.repeat(40))).toMatchObject({ status: 0, stdout: compared(name) });
    expect(run('')).toMatchObject({ status: 3, stdout: '' });
  });

  promiseTest('checkpoint/committed', 'git takes the file, and nothing else of the folder', async () => {
    const project = new SharedProject();
    await project.commitCheckpoint('one');
    const files = project.git(project.folder, 'ls-files', '.colibri');
    expect(files.split('\n')).toEqual(['.colibri/checkpoint', '.colibri/checkpoint.proof']);
    expect(await project.colibri('checkpoint', '--write')).toMatchObject({
      stdout: expect.stringContaining('unchanged') as string,
    });
    // Only a command changes it.
    await project.withAgent((agent) => agent.callTool({ name: 'task_create', arguments: { title: 'two' } }));
    expect(project.git(project.folder, 'status', '--short')).toBe('');
    // In another clone the folder comes with the checkpoint: the ledger that begins there is ignored all the same.
    project.git(project.ci, 'pull', '-q', 'origin', 'main');
    await project.runWith({ env: project.env, cwd: project.ci }, 'add', 'of Bob');
    expect(project.git(project.ci, 'status', '--short')).toBe('');
    expect(statSync(join(project.ci, '.colibri')).mode & 0o077).toBe(0);
    const bob = (...args: string[]) => project.runWith({ env: project.env, cwd: project.ci }, 'checkpoint', ...args);
    expect(await bob('--write')).toMatchObject({ status: 1, stderr: expect.stringContaining('another log') as string });
    expect(await bob('--write', '.colibri/bob.checkpoint')).toMatchObject({ status: 0 });
    project.git(project.ci, 'add', '-A');
    expect(project.git(project.ci, 'status', '--short')).toBe(
      'A  .colibri/bob.checkpoint\nA  .colibri/bob.checkpoint.proof',
    );
  });

  promiseTest('checkpoint/committed', 'a link, a folder and another file are left alone', async () => {
    const project = new SharedProject();
    await project.colibri('add', 'one');
    const file = project.path('.colibri/checkpoint');
    const write = (...args: string[]) => project.colibri('checkpoint', '--write', ...args);
    writeFileSync(project.path('victim'), 'mine');
    symlinkSync(project.path('victim'), file);
    expect(await write()).toMatchObject({ status: 1 });
    rmSync(file);
    mkdirSync(file);
    expect(await write()).toMatchObject({ status: 1 });
    rmSync(file, { recursive: true });
    symlinkSync(project.path('victim'), `${file}.proof`);
    expect(await write()).toMatchObject({ status: 1 });
    expect(existsSync(file)).toBe(false);
    rmSync(`${file}.proof`);
    expect(await write(project.path('notes.txt'))).toMatchObject({ status: 3 });
    writeFileSync(file, 'no checkpoint');
    expect(await write()).toMatchObject({ status: 1 });
    expect(readFileSync(project.path('victim'), 'utf8')).toBe('mine');
    writeFileSync(file, '<<<<<<< ours\n=======\n>>>>>>> theirs\n');
    expect(await write()).toMatchObject({ status: 0 });
    expect(await project.colibri('checkpoint', '--check', file)).toMatchObject({ status: 0 });
  });

  promiseTest('checkpoint/compared', 'forged, of another log, cut, without proof or key', async () => {
    const project = new SharedProject();
    await project.commitCheckpoint('one');
    const key = (await project.colibri('key')).stdout.trim();
    const file = project.path('.colibri/checkpoint');
    const [old, oldProof] = [readFileSync(file, 'utf8'), readFileSync(`${file}.proof`, 'utf8')];
    await project.commitCheckpoint('two');
    const [next, proof] = [readFileSync(file, 'utf8'), readFileSync(`${file}.proof`, 'utf8')];
    const compare = async (before: string, after: string, chain: string | undefined, ...keys: string[]) => {
      const [left, right] = [project.path('old'), project.path('new')];
      writeFileSync(left, before);
      writeFileSync(right, after);
      rmSync(`${right}.proof`, { force: true });
      if (chain !== undefined) writeFileSync(`${right}.proof`, chain);
      return (await project.colibri('checkpoint', '--check', left, '--against', right, ...keys)).status;
    };
    const trust = ['--key', key];
    expect(await compare(old, next, proof, ...trust)).toBe(0);
    expect(await compare(old, next, proof)).toBe(3);
    expect(await compare(old, next, undefined, ...trust)).toBe(2);
    expect(await compare(old, next, oldProof, ...trust)).toBe(2);
    expect(await compare(next, old, proof, ...trust)).toBe(1);
    const hashes = proof.split('\n');
    const at = hashes.findIndex((line) => line.startsWith('old 5')) + 1;
    const changed = (line: string) => [...hashes.slice(0, at), line, ...hashes.slice(at + 1)].join('\n');
    expect(await compare(old, next, changed(`${'A'.repeat(43)}=`), ...trust)).toBe(1);
    expect(await compare(old, next, changed('no hash'), ...trust)).toBe(3);
    expect(await compare(old, next, `${proof}garbage`, ...trust)).toBe(3);
    expect(await compare(old, next.replace('\n8\n', '\n9\n'), proof, ...trust)).toBe(3);
    expect(await compare('', next, proof, ...trust)).toBe(3);
    const other = new SigningProject();
    await other.colibri('add', 'one');
    const foreignKey = (await other.colibri('key')).stdout.trim();
    expect(await compare(old, await other.checkpoint(), proof, ...trust, '--key', foreignKey)).toBe(1);
    for (const args of [
      ['--against', file],
      ['--key', key],
      ['--check', file, '--write'],
      ['--ci', 'gitlab'],
      ['--check', file, '--against', project.path('missing'), '--key', key],
    ])
      expect((await project.colibri('checkpoint', ...args)).status, args.join(' ')).toBe(3);
  });
});
