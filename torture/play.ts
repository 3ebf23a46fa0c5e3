import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, Part, Round } from './part.ts';
import { Random } from './random.ts';

export interface Limits {
  readonly seed: number;
  readonly size: Round['size'];
  /** How long rounds are started; at least one is, or as many as the part needs. */
  readonly timeMs: number;
  /** How many rounds are played at most. */
  readonly rounds: number;
  /** Where rounds get their folders. */
  readonly parent: string;
  readonly newPostgresUrl: () => Promise<string>;
  readonly log: (line: string) => void;
}

export interface Played extends Outcome {
  readonly name: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly skipped: readonly string[];
  readonly highest: Readonly<Record<string, number>>;
}

/** Plays a part in rounds. Round n has the seed + n, so that each can be played again alone. */
export async function playPart(part: Part, limits: Limits): Promise<Played> {
  const { seed, timeMs, log } = limits;
  const begin = performance.now();
  const elapsedMs = () => performance.now() - begin;
  const outcomes: Outcome[] = [];
  do {
    const number = outcomes.length;
    const outcome = await playRound(part, { ...limits, seed: seed + number, timeMs: timeMs - elapsedMs() });
    outcomes.push(outcome);
    log(`${part.name} seed ${seed + number}: ${describe(outcome.counts)}`);
    if (outcome.problems.length === 0) continue;
    for (const line of outcome.script ?? []) log(`  ${line}`);
    for (const problem of outcome.problems) log(`  PROBLEM: ${problem}`);
    log(`  again: npm run torture -- --only ${part.name} --seed ${seed + number} --rounds 1`);
  } while (
    outcomes.length < limits.rounds &&
    (limits.size === 'short' || outcomes.length < (part.leastRounds ?? 1) || elapsedMs() < timeMs)
  );
  return {
    name: part.name,
    rounds: outcomes.length,
    seconds: Math.round(elapsedMs() / 1000),
    counts: merge(
      outcomes,
      ({ counts }) => counts,
      (left, right) => left + right,
    ),
    highest: merge(outcomes, ({ highest }) => highest ?? {}, Math.max),
    problems: outcomes.flatMap(({ problems }) => problems),
    skipped: [...new Set(outcomes.flatMap(({ skipped }) => skipped ?? []))],
  };
}

async function playRound(part: Part, limits: Limits): Promise<Outcome> {
  mkdirSync(limits.parent, { recursive: true });
  const folder = mkdtempSync(join(limits.parent, `${part.name}-`));
  try {
    return await part.play({ ...limits, folder, random: new Random(limits.seed) });
  } catch (error) {
    // A part that cannot judge has not shown that the promises hold.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { counts: {}, problems: [`the round ended with an error: ${text}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function merge(
  outcomes: readonly Outcome[],
  pick: (outcome: Outcome) => Readonly<Record<string, number>>,
  combine: (left: number, right: number) => number,
): Record<string, number> {
  const merged: Record<string, number> = {};
  for (const outcome of outcomes)
    for (const [name, value] of Object.entries(pick(outcome)))
      merged[name] = name in merged ? combine(merged[name] as number, value) : value;
  return merged;
}

function describe(counts: Outcome['counts']): string {
  const shown = Object.entries(counts).filter(([, count]) => count > 0);
  return shown.map(([name, count]) => `${count.toLocaleString('en')} ${name}`).join(', ') || 'nothing';
}
