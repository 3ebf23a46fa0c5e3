import { readFileSync } from 'node:fs';
import { residentMemory } from '../resident-memory.ts';

/** What calls cost during a part of a run. */
export interface Window {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMsPerCall: number;
  readonly memoryMb: number;
}

const CALLS = 1000;
/** Code is compiled and caches fill while the first calls run. */
const WARM_UP = 2;
const MS_PER_TICK = 10;

/** The calls of a run in windows of equal length. Keeps a few numbers of each, so that it can run for hours. */
export class Windows {
  readonly #pid: number | undefined;
  readonly #windows: Window[] = [];
  #times: number[] = [];
  #cpuMs: number;

  constructor(pid: number | undefined) {
    this.#pid = pid;
    this.#cpuMs = cpuOf(pid);
  }

  add(ms: number): void {
    this.#times.push(ms);
    if (this.#times.length === CALLS) this.#close();
  }

  /** The medians of the first and the last tenth of the windows, without those that warm up. */
  ends(): { readonly first: Window; readonly last: Window } {
    if (this.#windows.length === 0) this.#close();
    const warm = this.#windows.length > 2 * WARM_UP ? this.#windows.slice(WARM_UP) : this.#windows;
    const tenth = Math.max(1, Math.floor(warm.length / 10));
    return { first: medianOf(warm.slice(0, tenth)), last: medianOf(warm.slice(-tenth)) };
  }

  #close(): void {
    const sorted = this.#times.toSorted((left, right) => left - right);
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
    const cpuMs = cpuOf(this.#pid);
    this.#windows.push({
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      cpuMsPerCall: (cpuMs - this.#cpuMs) / Math.max(1, sorted.length),
      memoryMb: residentMemory(this.#pid).nowMb,
    });
    this.#times = [];
    this.#cpuMs = cpuMs;
  }
}

function medianOf(windows: readonly Window[]): Window {
  const middle = (pick: (window: Window) => number) =>
    windows.map(pick).sort((left, right) => left - right)[Math.floor(windows.length / 2)] ?? 0;
  return {
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    cpuMsPerCall: middle(({ cpuMsPerCall }) => cpuMsPerCall),
    memoryMb: middle(({ memoryMb }) => memoryMb),
  };
}

/** User and system time so far. Linux only; 0 elsewhere. */
function cpuOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  } catch {
    return 0;
  }
}
