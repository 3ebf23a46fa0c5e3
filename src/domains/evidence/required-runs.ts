import { parseCommandLine, type Step, type StepExit } from '../../integrity/evidence/command-line.ts';
import { exitIn, type ObservedRun } from '../../integrity/evidence/compare.ts';
import type { ObservedEdit } from './observed-work.ts';

/** Which commands that a project requires were not observed to exit 0 since the last edit. Pure. */

/**
 * `edited`: it was run, but only before the last edit. `failed`: the last run since then did not exit 0. `unknown`: it
 * was run, but its exit code is not known. `never`: no run was observed. `waiting`: events are not in the ledger yet.
 */
export type MissingReason = 'waiting' | 'never' | 'edited' | 'failed' | 'unknown';

export interface MissingRun {
  readonly command: string;
  readonly reason: MissingReason;
  /** The run that does not suffice. */
  readonly entry?: number;
  readonly exit_code?: number;
}

/** The part of the observed work that decides. */
export interface RequiredWork {
  readonly runs: readonly ObservedRun[];
  readonly edits: readonly ObservedEdit[];
}

export function listMissing(required: readonly string[], { runs, edits }: RequiredWork): MissingRun[] {
  const lastEntry = edits.reduce((last, { entry }) => Math.max(last, entry), -1);
  const lastTime =
    edits
      .map(({ at }) => at)
      .toSorted()
      .at(-1) ?? '';
  // Both the order of the log and the clock of the reports: an event that waited in a spool proves nothing.
  const isSince = (run: ObservedRun) => run.entry > lastEntry && run.begunAt >= lastTime;
  // In the order of the log, each line parsed once.
  const parsed = runs
    .toSorted((left, right) => left.entry - right.entry)
    .map((run) => ({ run, line: parseCommandLine(run.command), isSince: isSince(run) }));
  return required.flatMap((command) => describeMissing(command, parsed) ?? []);
}

interface ParsedRun {
  readonly run: ObservedRun;
  readonly line: readonly Step[];
  readonly isSince: boolean;
}

interface Found extends ParsedRun {
  readonly exit: StepExit;
}

function describeMissing(command: string, runs: readonly ParsedRun[]): MissingRun | undefined {
  const wanted = parseCommandLine(command);
  const found = runs.flatMap((parsed): Found[] => {
    const exit = exitIn(parsed.run, parsed.line, wanted);
    return exit === undefined ? [] : [{ ...parsed, exit }];
  });
  const since = found.filter((one) => one.isSince);
  const known = since.findLast(({ exit }) => exit.outcome !== 'unknown');
  if (known !== undefined) return known.exit.outcome === 'ok' ? undefined : toMissing(command, 'failed', known);
  const unknown = since.at(-1);
  if (unknown !== undefined) return toMissing(command, 'unknown', unknown);
  const earlier = found.at(-1);
  return earlier === undefined ? { command, reason: 'never' } : toMissing(command, 'edited', earlier);
}

function toMissing(command: string, reason: MissingReason, { run, exit }: Found): MissingRun {
  const { exitCode } = exit;
  return { command, reason, entry: run.entry, ...(exitCode === null ? {} : { exit_code: exitCode }) };
}

/** Whether the exit code of a run can say that the command exited 0. */
export function canBeRequired(command: string): boolean {
  const steps = parseCommandLine(command);
  return steps.every(({ isTelling, isJoined }, place) => isTelling && (place === 0 || isJoined));
}
