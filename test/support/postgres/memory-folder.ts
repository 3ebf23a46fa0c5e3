import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 8 * 1024 ** 3;

/** In memory where there is plenty: a killed process loses nothing there, and its commits do not wait for a disk. */
export function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH_BYTES && canExecute(MEMORY) ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Often mounted so that no program can be started from it. */
function canExecute(folder: string): boolean {
  const own = mkdtempSync(join(folder, 'colibri-probe-'));
  try {
    const program = join(own, 'probe');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    return spawnSync(program).status === 0;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
