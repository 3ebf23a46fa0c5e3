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
/** How many times as long as all agents at that moment an agent may wait, by the median of its calls. */
const MAX_UNFAIRNESS = 5;
/** Calls that were answered in the same window met the same load. */
const WINDOW_MS = 1000;
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
    problems.push(`an agent waited ${unfairness.toFixed(1)} times as long as the others at that moment`);
  return {
    problems,
    highest: {
      'wait of a call, p50 of the worst round, ms': Math.round(middle(waits)),
      'wait of a call, longest, ms': Math.round(waits.at(-1) ?? 0),
      'lateness of a timer, longest, ms': Math.round(lateMs),
      'wait of the slowest agent, times that of all agents at that moment': Math.round(100 * unfairness) / 100,
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

/**
 * Only calls that nothing happened to: a fault makes its own agent wait. Agents do not live equally long, so a call is
 * compared with those that were answered in the same window.
 */
function measureUnfairness(asked: readonly Asked[]): number {
  const windows = new Map<number, Undisturbed[]>();
  for (const { lane, isDisturbed, answer } of asked) {
    if (!lane.startsWith('agent-') || isDisturbed || answer === undefined) continue;
    const window = Math.floor(answer.atMs / WINDOW_MS);
    windows.set(window, [...(windows.get(window) ?? []), { lane, waitedMs: answer.waitedMs }]);
  }
  const byAgent = new Map<string, number[]>();
  for (const calls of windows.values()) {
    const usualMs = Math.max(UNNOTICED_MS, middle(sorted(calls.map(({ waitedMs }) => waitedMs))));
    for (const { lane, waitedMs } of calls) byAgent.set(lane, [...(byAgent.get(lane) ?? []), waitedMs / usualMs]);
  }
  const agents = [...byAgent.values()].filter(({ length }) => length >= FEWEST_CALLS);
  return agents.length < 2 ? 1 : Math.max(...agents.map((ratios) => middle(sorted(ratios))));
}

interface Undisturbed {
  readonly lane: string;
  readonly waitedMs: number;
}

function sorted(values: readonly number[]): number[] {
  return values.toSorted((left, right) => left - right);
}

function middle(values: readonly number[]): number {
  return values[Math.floor(values.length / 2)] ?? 0;
}
