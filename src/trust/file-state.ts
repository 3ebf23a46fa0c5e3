import { type BigIntStats, lstatSync } from 'node:fs';

/**
 * Changes whenever somebody writes to the ledger or its log, or puts other files in their places: no program can set the
 * time of the last change of a file (ctime) to an earlier one.
 */
export function readFileState(databasePath: string): string {
  return ['', '-wal'].map((suffix) => describe(`${databasePath}${suffix}`)).join(' ');
}

function describe(path: string): string {
  const stats: BigIntStats | undefined = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  // An empty log holds nothing; a command that only reads may create or remove it.
  if (stats === undefined || stats.size === 0n) return 'none';
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
