import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A call of the file system that fails, or at which the process is killed: the nth of its name on these paths. */
export interface Fault {
  readonly call: string;
  readonly nth: number;
  readonly effect: 'EIO' | 'ENOSPC' | 'SIGKILL';
}

/** False on a machine without strace, or on which it may not trace. */
export const NO_STRACE = 'strace is missing or may not trace processes here';
export const CAN_TRACE = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

/**
 * What SQLite and Colibri ask the system about a file. Not fcntl: an unlock that fails leaves the lock with the
 * process, and only the end of the process releases it (docs/operations.md).
 */
const CALLS = (
  'openat close fstat newfstatat statx lstat stat access readlink getdents64 pread64 read pwrite64 write ftruncate ' +
  'fallocate fsync fdatasync mmap mkdir rename link unlink fchmod fchown'
).split(' ');
/** A failure to close, to read or to lock is an error of the disk; only these need space. */
const NEEDS_SPACE = new Set('openat pwrite64 write ftruncate fallocate fdatasync fsync mkdir link'.split(' '));

/** Arguments of strace for one fault; without one, it counts the calls in a file. */
function straceArguments(paths: readonly string[], trace: string, fault?: Fault): string[] {
  const effect = fault?.effect === 'SIGKILL' ? 'signal=SIGKILL' : `error=${fault?.effect}`;
  const options = ['-f', '-q', '-o', trace, '-e', `trace=${CALLS.map((call) => `?${call}`).join(',')}`];
  return [
    ...options,
    ...paths.flatMap((path) => ['-P', path]),
    ...(fault === undefined ? [] : ['-e', `inject=${fault.call}:${effect}:when=${fault.nth}`]),
  ];
}

/** Starts a program under strace, for `launcher` of a program's options. */
export function faultyLauncher(paths: readonly string[], folder: string, fault?: Fault): string[] {
  return ['strace', ...straceArguments(paths, join(folder, 'trace'), fault), '--'];
}

/** Faults of a process that runs already. */
export class Injection {
  readonly #strace: ChildProcess;
  readonly #exit: Promise<unknown>;

  private constructor(strace: ChildProcess) {
    this.#strace = strace;
    this.#exit = new Promise((resolve) => strace.on('close', resolve));
  }

  static async attach(pid: number, paths: readonly string[], folder: string, fault?: Fault): Promise<Injection> {
    const args = straceArguments(paths, join(folder, 'trace'), fault).filter((argument) => argument !== '-q');
    const strace = spawn('strace', [...args, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
    const injection = new Injection(strace);
    let text = '';
    await new Promise<void>((resolve, reject) => {
      strace.stderr.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('attached')) resolve();
      });
      strace.on('close', () => reject(new Error(text)));
    });
    return injection;
  }

  async detach(): Promise<void> {
    this.#strace.kill('SIGINT');
    await this.#exit;
  }
}

/** How often each call was made since the tracing began, and how often one was made to fail. */
export function readTrace(folder: string): { readonly counts: ReadonlyMap<string, number>; readonly injected: number } {
  const trace = join(folder, 'trace');
  const counts = new Map<string, number>();
  let injected = 0;
  for (const line of readFileSync(trace, 'latin1').split('\n')) {
    const [, call] = /^\d+ +(\w+)\(/.exec(line) ?? [];
    if (call !== undefined) counts.set(call, (counts.get(call) ?? 0) + 1);
    if (line.includes('(INJECTED)') || line.includes('killed by SIGKILL')) injected += 1;
  }
  rmSync(trace);
  return { counts, injected };
}

/** Every call fails once with each error that it can have, and the process is killed at each once. */
export function listFaults(counts: ReadonlyMap<string, number>, effects: readonly Fault['effect'][]): Fault[] {
  return [...counts].flatMap(([call, count]) =>
    effects
      .filter((effect) => effect !== 'ENOSPC' || NEEDS_SPACE.has(call))
      .flatMap((effect) => Array.from({ length: count }, (_, index) => ({ call, nth: index + 1, effect }))),
  );
}
