import { type ChildProcess, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A disk that a program sees in place of its working folder, and that a test can fill while the program runs. */
export interface SmallDisk {
  /** Starts a program on the disk; for `launcher` of a program's options. */
  readonly launcher: readonly string[];
  /** Takes all of its space. */
  fill(program: ChildProcess): void;
  /** Gives the space back. */
  free(program: ChildProcess): void;
  /** Copies a folder of the disk while the program runs: the disk ends with it. */
  copy(program: ChildProcess, name: string, target: string): void;
}

const NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount'] as const;
const MOUNT = 'mount -t tmpfs -o mode=700,size=4m tmpfs "$0" && cd "$0" && exec "$@"';
const FILLER = 'filler';

/**
 * An in-memory file system in a mount namespace, which needs no privileges on most Linux machines. Undefined on a
 * machine that has no such thing.
 */
export function createSmallDisk(folder: string): SmallDisk | undefined {
  const launcher = [...NAMESPACE, 'sh', '-c', MOUNT, folder];
  if (spawnSync(NAMESPACE[0], [...launcher.slice(1), 'true']).status !== 0) return undefined;
  const see = ({ pid }: ChildProcess, name: string) => join('/proc', String(pid), 'root', folder, name);
  return {
    launcher,
    copy: (program, name, target) => cpSync(see(program, name), target, { recursive: true }),
    fill: (program) => {
      const page = Buffer.alloc(4096);
      while (append(see(program, FILLER), page));
    },
    free: (program) => rmSync(see(program, FILLER)),
  };
}

/** A stand-in that works everywhere: no file may grow beyond two megabytes, and that stays so. */
export const SMALL_FILES = ['sh', '-c', 'ulimit -f 4096; exec "$0" "$@"'] as const;

function append(path: string, bytes: Buffer): boolean {
  try {
    appendFileSync(path, bytes);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return false;
  }
}
