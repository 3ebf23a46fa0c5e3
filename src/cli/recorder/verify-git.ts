import { createGitEnvironment } from '../../config.ts';
import type { Reader } from '../../db/database.ts';
import { listTips } from '../../git/list-trailers.ts';
import { GitFailed, type GitOptions, runGit } from '../../git/run-git.ts';
import { type CheckpointCheck, checkCheckpoints } from '../../recorder/git/check-checkpoints.ts';
import { type CommitCheck, checkCommits } from '../../recorder/git/check-commits.ts';
import type { GitFinding } from '../../recorder/git/findings.ts';
import { CommandError, type Verdict } from '../support/command-result.ts';
import { plural } from '../views/terminal.ts';

/** What the repository says about the log, and the log about the repository. */
export interface GitReport {
  /** A shallow clone lacks commits. */
  readonly shallow: boolean;
  readonly commits: CommitCheck;
  readonly checkpoints: CheckpointCheck;
}

const MAX_SHOWN = 20;
const SHA_LENGTH = 12;

/** The commits of the repository around the current folder to compare a log with. Call it before the log is read. */
export function listGitTips(): Promise<string[]> {
  return withGit(listTips);
}

/** Compares the log with the repository around the current folder. Its stored nodes must have been verified. */
export function checkGit(
  reader: Reader,
  ledger: { readonly ledgerId: string; readonly size: number },
  tips: readonly string[],
): Promise<GitReport> {
  return withGit(async (git) => {
    const shallow = (await runGit(['rev-parse', '--is-shallow-repository'], git)).trim() === 'true';
    const commits = await checkCommits(reader, git);
    return { shallow, commits, checkpoints: await checkCheckpoints(reader, ledger, tips, git) };
  });
}

async function withGit<Result>(work: (git: GitOptions) => Promise<Result>): Promise<Result> {
  try {
    return await work({ env: createGitEnvironment() });
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    throw new CommandError('cannot tell', `the repository cannot be read: ${error.message}`, {
      advice: 'change to a work tree of the repository',
    });
  }
}

export function judgeGit({ commits, checkpoints }: GitReport): Verdict {
  if (commits.contradicted + checkpoints.contradicted > 0) return 'tampered';
  const isUnproven = commits.missing > 0 || checkpoints.unreadable > 0;
  return isUnproven || checkpoints.found === 0 ? 'cannot tell' : 'whole';
}

/** One line for each thing that was compared, and one for each finding. */
export function describeGit(report: GitReport): string[] {
  const { commits, checkpoints } = report;
  const { recorded, present, rewritten, missing } = commits;
  const { found, extended, foreign } = checkpoints;
  const findings = [...commits.claims, ...checkpoints.claims];
  const count = commits.contradicted + missing + checkpoints.contradicted + checkpoints.unreadable;
  return [
    `git: ${present.toLocaleString('en')} of ${plural(recorded, 'recorded commit')} ${present === 1 ? 'is' : 'are'} in this repository${rewritten === 0 ? '' : `, ${rewritten} ${rewritten === 1 ? 'was' : 'were'} rewritten and removed`}`,
    `git: the log extends ${extended.toLocaleString('en')} of ${plural(found, 'checkpoint')} in commits`,
    ...(foreign > 0
      ? [`git: ${plural(foreign, 'checkpoint')} of other ledgers ${foreign === 1 ? 'was' : 'were'} not checked`]
      : []),
    ...findings.slice(0, MAX_SHOWN).map(describeFinding),
    ...(count > MAX_SHOWN ? [`  and ${count - Math.min(MAX_SHOWN, findings.length)} more`] : []),
    ...explain(report),
    ...(HEADLINES[judgeGit(report)] ?? []),
  ];
}

const HEADLINES: Partial<Record<Verdict, readonly string[]>> = {
  tampered: ['TAMPERED: the log and the commits of this repository contradict each other'],
  'cannot tell': ['CANNOT TELL: not every claim could be checked'],
};

function describeFinding({ state, sha, entry, problem }: GitFinding): string {
  const place = entry === undefined ? '' : ` (entry ${entry})`;
  return `  ${state === 'contradicted' ? 'CONTRADICTED' : 'cannot tell'}: commit ${sha.slice(0, SHA_LENGTH)}${place} ${problem}`;
}

function explain({ shallow, commits: { present, missing }, checkpoints }: GitReport): string[] {
  const isOther = missing > 0 && present === 0;
  return [
    ...(isOther ? ['None of the recorded commits is here: this may be the ledger of another repository.'] : []),
    ...(missing > 0 && shallow ? ['This clone is shallow: run git fetch --unshallow, then verify again.'] : []),
    ...(missing > 0 && !shallow && !isOther
      ? ['Commits disappear when git gc removes what no branch leads to, or were made in another clone.']
      : []),
    ...explainNone(checkpoints),
  ];
}

/** Without a checkpoint, the repository is no witness of the log. */
function explainNone({ found, foreign }: CheckpointCheck): string[] {
  if (found > 0) return [];
  if (foreign > 0) return ['No commit carries a checkpoint of this ledger; was it replaced?'];
  return ['Nothing was compared with the log: no commit that a branch or tag leads to carries a checkpoint of it.'];
}
