import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from '../../src/db/database.ts';
import { openSqlite } from '../../src/db/sqlite/database.ts';
import { type CommitReport, parseCommits } from '../../src/recorder/git/parse-commits.ts';
import { ingest } from '../../src/recorder/ingest.ts';
import { listSpool, readSpoolFile } from '../../src/recorder/spool.ts';
import { CliProject, inherited } from '../support/cli-project.ts';

export interface GitRun {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly input?: string;
}

/** A repository of its own for a test, without the configuration of the machine. */
export class GitProject extends CliProject {
  readonly spool = join(this.folder, '.colibri', 'spool');

  constructor() {
    super();
    this.git('init', '-q', '-b', 'main');
  }

  /** The output; throws if git fails. */
  git(...args: readonly string[]): string {
    return this.gitWith({}, ...args);
  }

  gitWith(options: GitRun, ...args: readonly string[]): string {
    const { status, stdout, stderr } = this.tryGit(options, ...args);
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  tryGit({ env = {}, cwd = this.folder, input = '' }: GitRun, ...args: readonly string[]): SpawnSyncReturns<string> {
    return spawnSync('git', args, { cwd, input, encoding: 'utf8', env: { ...gitEnvironment(), ...env } });
  }

  /** The hash of a new commit of this file. */
  commit(message: string, name = 'file', options: GitRun = {}): string {
    writeFileSync(join(options.cwd ?? this.folder, name), message);
    this.gitWith(options, 'add', '-A', '--', name);
    this.gitWith(options, 'commit', '-q', '-m', message);
    return this.gitWith(options, 'rev-parse', 'HEAD');
  }

  message(revision = 'HEAD'): string {
    return this.git('log', '-1', '--format=%B', revision);
  }

  async initRecord(...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run('init', '--record', '--no-instructions', 'claude-code', ...args);
    if (status !== 0) throw new Error(stderr);
    return stdout;
  }

  writeHook(path: string, text: string | Buffer, mode = 0o755): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
    chmodSync(this.path(path), mode);
  }

  /** What the hooks of git reported and no server has recorded yet. */
  reports(spool = this.spool): CommitReport[] {
    return listSpool(spool).map((name) => {
      const report = parseCommits(readSpoolFile(spool, name) ?? '');
      if (report === undefined) throw new Error(`${name} is not a report of commits`);
      return report;
    });
  }

  /** Ingests the spool like a server. */
  ingest(): Promise<{ recorded: number; rejected: number }> {
    return this.withLedger((database) => ingest(database, this.spool));
  }

  async withLedger<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    const options = { path: this.ledger, readOnly: false, durability: 'relaxed', busyTimeoutMs: 5000 } as const;
    const database = await openSqlite(options);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }
}

export function gitEnvironment(): Record<string, string> {
  const person = (role: string) => ({ [`GIT_${role}_NAME`]: 'Ada', [`GIT_${role}_EMAIL`]: 'ada@example.org' });
  const isolated = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_EDITOR: 'false' };
  return { ...inherited(), ...isolated, ...person('AUTHOR'), ...person('COMMITTER') };
}
