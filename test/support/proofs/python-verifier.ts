import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

export interface PythonReport {
  readonly verdict: string;
  readonly reason?: string;
  readonly size?: number;
  readonly root?: string;
  readonly claims?: readonly { readonly about: string; readonly holds: string }[];
}

const PROGRAM = resolve('test/support/programs/verify-many.py');

/** What examples/verify.py says about these files, each with the keys to trust. Undefined where there is no Python. */
export function judgeInPython(
  files: readonly (readonly [file: string, ...keys: string[]])[],
): readonly PythonReport[] | undefined {
  const { error, status, stdout, stderr } = spawnSync('python3', ['-B', PROGRAM], {
    input: JSON.stringify(files),
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') return undefined;
  if (status !== 0) throw error ?? new Error(stderr);
  return JSON.parse(stdout) as PythonReport[];
}
