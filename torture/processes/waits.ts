import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Asked } from './journal.ts';
import { LOCK_LIMIT_MS } from './script.ts';

export interface Waits {
  readonly problems: readonly string[];
  readonly highest: Readonly<Record<string, number>>;
}

/** A call waits for the write lock twice at most: for its enter entry and for its change. */
const LIMIT_MS = 2 * LOCK_LIMIT_MS;
/** How late a process may be compared with this one, which waits for its turn on the processors like any other. */
const LATENESS = 10;
/** The median wait of an agent, compared with that of the agent in the middle. */
const MAX_UNFAIRNESS = 5;
/** Fewer calls say nothing about an agent, and a wait of less than this nothing about the lock. */
const FEWEST_CALLS = 8;
const UNNOTICED_MS = 50;

/** No call waits past its limit, and no agent waits much longer than the others. */
export function judgeWaits(asked: readonly Asked[], lateMs: number): Waits {
  const limitMs = LIMIT_MS + LATENESS * lateMs;
  const problems = asked
    .filter(({ answer }) => (answer?.waitedMs ?? 0) > limitMs)
    .map(
      ({ marker, tool, answer }) =>
        `${marker} ${tool}: answered ${answer?.outcome} after ${answer?.waitedMs} ms; the limit is ${limitMs}`,
    );
  const waits = sorted(asked.flatMap(({ answer }) => answer?.waitedMs ?? []));
  const unfairness = measureUnfairness(asked);
  if (unfairness > MAX_UNFAIRNESS)
    problems.push(`an agent waited ${unfairness.toFixed(1)} times as long as the one in the middle`);
  return {
    problems,
    highest: {
      'wait of a call, p50 of the worst round, ms': Math.round(middle(waits)),
      'wait of a call, longest, ms': Math.round(waits.at(-1) ?? 0),
      'lateness of a timer, longest, ms': Math.round(lateMs),
      'wait of the slowest agent, times that of the middle one': Math.round(100 * unfairness) / 100,
    },
  };
}

/** Measures how late timers fire until the returned function is called. */
export function watchLateness(): () => number {
  const resolution = 20;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  return () => {
    delay.disable();
    return Math.max(0, delay.max / 1e6 - resolution);
  };
}

/** Only calls that nothing happened to: a fault makes its own agent wait. */
function measureUnfairness(asked: readonly Asked[]): number {
  const byAgent = new Map<string, number[]>();
  for (const { lane, isDisturbed, answer } of asked) {
    if (!lane.startsWith('agent-') || isDisturbed || answer === undefined) continue;
    byAgent.set(lane, [...(byAgent.get(lane) ?? []), answer.waitedMs]);
  }
  const medians = [...byAgent.values()]
    .filter(({ length }) => length >= FEWEST_CALLS)
    .map((all) => middle(sorted(all)));
  return medians.length < 2 ? 1 : Math.max(...medians) / Math.max(UNNOTICED_MS, middle(sorted(medians)));
}

function sorted(values: readonly number[]): number[] {
  return values.toSorted((left, right) => left - right);
}

function middle(values: readonly number[]): number {
  return values[Math.floor(values.length / 2)] ?? 0;
}
