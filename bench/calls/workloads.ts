/** The write and the read that are timed, as data. */
export interface Workload {
  /** Below dist/. */
  readonly program: string;
  readonly write: { readonly name: string; readonly arguments: Record<string, unknown> };
  /** Reads back what the write answered with. */
  readonly read: { readonly name: string; readonly key: string };
}

const row = { title: 'Measure what one call costs', project: 'bench' };

/** What agents do: a task with all its tables and indexes. */
export const TASKS: Workload = {
  program: 'colibri.cjs',
  write: { name: 'task_create', arguments: row },
  read: { name: 'task_get', key: 'task_id' },
};

/** The smallest write and read behind the same five stages: what the recording itself costs. */
export const SMALLEST: Workload = {
  program: 'bench/minimal-server.js',
  write: { name: 'bench_write', arguments: row },
  read: { name: 'bench_read', key: 'row_id' },
};

export type CaseName = 'echo' | 'echo and commit' | 'ping' | 'read' | 'write, full' | 'write, relaxed';

export interface Bar {
  readonly of: CaseName | 'cold start' | 'first 50 calls';
  readonly over: CaseName | 'bare loop' | 'later calls';
  readonly atMost?: number;
  readonly aim?: number;
}

export const BARS: readonly Bar[] = [
  { of: 'write, full', over: 'echo and commit', atMost: 1.5, aim: 1.25 },
  { of: 'write, relaxed', over: 'echo', atMost: 2, aim: 1.6 },
  { of: 'read', over: 'echo', atMost: 1.6, aim: 1.4 },
  { of: 'ping', over: 'echo' },
  { of: 'cold start', over: 'bare loop', atMost: 1.9, aim: 1.6 },
  { of: 'first 50 calls', over: 'later calls', atMost: 1.5 },
];

/** Bytes that a `task_create` leaves in an SQLite file, and pages that the commit of its change writes. */
export const STORAGE_BARS = { bytes: 1500, changePages: 12 };

/** For the input side of all 14 tools. */
export const TOKEN_BUDGET = 2500;

/** Resident memory after 100,000 calls over that after 10,000: what a garbage collector may do, and no leak. */
export const MEMORY_BAR = 1.15;
