import { type CallExit, exitOfSteps, parseCommandLine, type Step, type StepExit } from './command-line.ts';
import { readStatements, type StatedExit } from './statement.ts';

/** Compares what thoughts say with what was observed. Pure; docs/trust.md has the rules. */

/** A shell command whose end a client reported. */
export interface ObservedRun extends CallExit {
  readonly entry: number;
  /** When the client reported its end. */
  readonly at: string;
  /** The same as `at` if the client does not tell how long it took. */
  readonly begunAt: string;
  readonly command: string;
}

/** One item of `tests_run`, or the `commit_sha`, of a thought. */
export interface Said {
  readonly thought_id: string;
  readonly field: 'tests_run' | 'commit_sha';
  readonly value: string;
  readonly at: string;
  /** When the attempt of the thought began: what was done before the task was sent back says nothing about it. */
  readonly since: string;
}

/** What the log knows about a commit that a thought names. */
export interface KnownCommit {
  /** The entry that git reported it by. */
  readonly entry: number | undefined;
  /** Whether a recorded commit names it as its parent, or as the commit that it replaced. */
  readonly isNamed: boolean;
  /** The time of the first recorded commit; undefined if none is recorded. */
  readonly recordedSince: string | undefined;
  /** Whether the repository of the ledger has it; undefined if that is not known. */
  readonly isThere: boolean | undefined;
}

export type EvidenceState = 'observed' | 'said' | 'contradicted';

export interface Evidence {
  readonly thought_id: string;
  readonly field: Said['field'];
  readonly value: string;
  readonly state: EvidenceState;
  /** The entry of the run or commit. Beside `said`: a run that does not tell what the words state. */
  readonly entry?: number;
  /** Absent if unknown. */
  readonly exit_code?: number;
  /** Set if the run failed and its exit code is unknown. */
  readonly failed?: true;
}

export type EvidenceCounts = Readonly<Record<EvidenceState, number>>;

/** How many items are in each state; undefined if there are none. */
export function countStates(items: readonly Pick<Evidence, 'state'>[]): EvidenceCounts | undefined {
  if (items.length === 0) return undefined;
  const count = (wanted: EvidenceState) => items.filter(({ state }) => state === wanted).length;
  return { observed: count('observed'), said: count('said'), contradicted: count('contradicted') };
}

/** Finds the last run of a command that a thought can speak of. */
export type FindRun = (said: Said, command: string) => FoundRun | undefined;

export interface FoundRun {
  readonly run: ObservedRun;
  readonly exit: StepExit;
}

export function compareTests(said: Said, findRun: FindRun): Evidence {
  for (const { command, exit: stated } of readStatements(said.value)) {
    const found = findRun(said, command);
    if (found !== undefined) return describe(said, found, judge(stated, found.exit));
  }
  return bare(said, 'said');
}

/** Only a repository that does not have the commit contradicts: git makes many commits without running a hook. */
export function compareCommit(said: Said, { entry, isNamed, recordedSince, isThere }: KnownCommit): Evidence {
  if (entry !== undefined) return { ...bare(said, 'observed'), entry };
  const isRecording = recordedSince !== undefined && recordedSince <= said.at;
  return bare(said, isRecording && !isNamed && isThere === false ? 'contradicted' : 'said');
}

/** How a command ended in a run of a line that has it, or undefined. The last of several places counts. */
export function exitIn(run: CallExit, line: readonly Step[], command: readonly Step[]): StepExit | undefined {
  const wanted = keyOf(command);
  const exits = line.flatMap((_, first) => {
    const part = line.slice(first, first + command.length);
    return isRow(part) && keyOf(part) === wanted ? [exitOfSteps(part, run)] : [];
  });
  return exits.findLast(({ hasRun }) => hasRun) ?? exits.at(-1);
}

/** Every run of one of the commands by its steps, so that a long list of runs is read once. */
export function createRunFinder(runs: readonly ObservedRun[], commands: Iterable<string>): FindRun {
  const wanted = new Map<string, FoundRun[]>();
  const lengths = new Set<number>();
  const keys = new Map<string, string>();
  for (const command of commands) {
    const steps = parseCommandLine(command);
    keys.set(command, keyOf(steps));
    wanted.set(keyOf(steps), []);
    lengths.add(steps.length);
  }
  for (const run of runs.toSorted(byTime)) {
    const steps = parseCommandLine(run.command);
    for (const length of lengths)
      for (let first = 0; first + length <= steps.length; first += 1) {
        const part = steps.slice(first, first + length);
        const found = isRow(part) ? wanted.get(keyOf(part)) : undefined;
        if (found === undefined) continue;
        const exit = exitOfSteps(part, run);
        // A later step of the same line counts, unless it may not have run.
        const isSame = found.at(-1)?.run === run;
        if (isSame && exit.hasRun) found.pop();
        if (!isSame || exit.hasRun) found.push({ run, exit });
      }
  }
  return ({ since, at }, command) => {
    let uncertain: FoundRun | undefined;
    for (const found of (wanted.get(keys.get(command) ?? '') ?? []).toReversed()) {
      if (found.run.at > at) continue;
      if (found.run.at < since) break;
      if (found.exit.hasRun) return found;
      uncertain ??= found;
    }
    return uncertain;
  };
}

/** Steps are compared in a row: what `&&` does not join may have ended otherwise. */
function isRow(steps: readonly Step[]): boolean {
  return steps.every(({ isJoined }, place) => place === 0 || isJoined);
}

function keyOf(steps: readonly Step[]): string {
  return steps.map(({ key }) => key).join('\n');
}

/** Compares by the clock of the reports: an event can wait in the spool while the thought is recorded. */
function byTime(left: ObservedRun, right: ObservedRun): number {
  return left.at < right.at ? -1 : left.at > right.at ? 1 : left.entry - right.entry;
}

function judge(stated: StatedExit | undefined, { hasRun, exitCode, outcome }: StepExit): EvidenceState {
  if (!hasRun) return 'said';
  if (stated === undefined) return 'observed';
  if (outcome === 'unknown' || stated === 'unclear') return 'said';
  if (stated === 'zero' || stated === 'nonzero' || stated === 0)
    return (outcome === 'ok') === (stated !== 'nonzero') ? 'observed' : 'contradicted';
  if (exitCode === null) return 'said';
  return exitCode === stated ? 'observed' : 'contradicted';
}

function describe(said: Said, { run, exit }: FoundRun, state: EvidenceState): Evidence {
  const { exitCode, outcome } = exit;
  return {
    ...bare(said, state),
    entry: run.entry,
    ...(exitCode === null ? {} : { exit_code: exitCode }),
    ...(exitCode === null && outcome === 'failed' ? { failed: true as const } : {}),
  };
}

function bare({ thought_id, field, value }: Said, state: EvidenceState): Evidence {
  return { thought_id, field, value, state };
}
