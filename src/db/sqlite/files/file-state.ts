import { type BigIntStats, lstatSync } from 'node:fs';

/**
 * Changes whenever the ledger or its write-ahead log is written or replaced: no program can set a file's ctime to an
 * earlier time.
 */
export function readFileState(databasePath: string): string {
  return ['', '-wal'].map((suffix) => describe(`${databasePath}${suffix}`)).join(' ');
}

function describe(path: string): string {
  const stats: BigIntStats | undefined = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  // A reader may create or remove an empty log.
  if (stats === undefined || stats.size === 0n) return 'none';
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
