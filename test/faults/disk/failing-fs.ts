import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** What happens at one call of `node:fs`. */
export type Failure =
  /** The call fails, and the ones after it work. */
  | 'EIO'
  /** From this call the disk is full: calls that create or extend a file fail. */
  | 'ENOSPC'
  /** A write stores half of its bytes, and returns that number. */
  | 'short write'
  /** The process dies: neither this call nor any later one has an effect. */
  | 'killed';

export const FAILURES: readonly Failure[] = ['EIO', 'ENOSPC', 'short write', 'killed'];

/** A rename replaces a name in its folder by another one. */
const NEED_SPACE = ['openSync', 'writeSync', 'mkdirSync', 'fsyncSync', 'linkSync', 'copyFileSync', 'appendFileSync'];
const CALLS = [
  ...NEED_SPACE,
  'writeFileSync',
  'closeSync',
  'readFileSync',
  'readSync',
  'readdirSync',
  'statSync',
  'lstatSync',
];
const MORE_CALLS = [
  'renameSync',
  'fstatSync',
  'unlinkSync',
  'rmSync',
  'rmdirSync',
  'chmodSync',
  'fchmodSync',
  'realpathSync',
];

type Call = (...args: readonly unknown[]) => unknown;

export interface Attempt {
  /** False if the work made fewer calls. */
  readonly hasFailed: boolean;
  readonly error: unknown;
}

/** Runs work whose nth call of `node:fs` fails, and gives `node:fs` back unharmed. */
export function withFailure(nth: number, failure: Failure, work: () => void): Attempt {
  const originals = new Map<string, Call>();
  const table = fs as unknown as Record<string, Call>;
  let calls = 0;
  let isInside = false;
  const wrap = (name: string, original: Call): Call =>
    Object.assign((...args: readonly unknown[]) => {
      // A call that Node makes itself on the way belongs to the one that asked for it.
      if (isInside) return original(...args);
      calls += 1;
      const isHit = failure === 'EIO' ? calls === nth : calls >= nth;
      isInside = true;
      try {
        return isHit ? fail(name, failure, calls === nth, original, args) : original(...args);
      } finally {
        isInside = false;
      }
    }, original);
  for (const name of [...CALLS, ...MORE_CALLS]) {
    const original = table[name];
    if (original === undefined) throw new Error(`node:fs has no ${name}`);
    originals.set(name, original);
    table[name] = wrap(name, original);
  }
  syncBuiltinESMExports();
  let error: unknown;
  try {
    work();
  } catch (thrown) {
    error = thrown;
  } finally {
    for (const [name, original] of originals) table[name] = original;
    syncBuiltinESMExports();
  }
  return { hasFailed: calls >= nth, error };
}

function fail(name: string, failure: Failure, isFirst: boolean, original: Call, args: readonly unknown[]): unknown {
  if (failure === 'EIO') throw systemError('EIO', name);
  if (failure === 'killed') throw systemError('the process was killed', name);
  const isWrite = name === 'writeSync' || name === 'writeFileSync';
  if (failure === 'short write') return isFirst && isWrite ? writeHalf(name, original, args) : original(...args);
  // Opening a file that exists, or to read, needs no space; neither does reading.
  const needsSpace = name === 'openSync' ? args[1] !== 'r' : NEED_SPACE.includes(name) || isWrite;
  if (needsSpace) throw systemError('ENOSPC', name);
  return original(...args);
}

/**
 * Like the operating system: `writeSync` returns fewer bytes, and `writeFileSync` meets the end of the disk at the
 * rest.
 */
function writeHalf(name: string, original: Call, [target, content]: readonly unknown[]): unknown {
  const text = String(content);
  const half = text.slice(0, text.length / 2);
  const result = original(target, half);
  if (name === 'writeSync') return result;
  throw systemError('ENOSPC', name);
}

function systemError(code: string, call: string): Error {
  return Object.assign(new Error(`${code}: ${call}`), { code });
}
