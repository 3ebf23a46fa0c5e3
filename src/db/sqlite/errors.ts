import { DatabaseError, type DatabaseFault } from '../database.ts';

/** Between a program and its file there is no connection to be lost, and nobody who refuses. */
export type SqliteFault = Exclude<DatabaseFault, 'lost' | 'unknown' | 'refused' | 'unsynced'>;

const ADVICE: Readonly<Record<Exclude<SqliteFault, 'other'>, string>> = {
  busy: 'another process keeps the ledger locked; call again, and if it stays so look for a program that has the file open',
  full: 'the disk is full; free some space and call again',
  corrupt: 'the file is damaged or is not a ledger; restore a backup, or set COLIBRI_DB_PATH to another file',
  readonly:
    'the file or its folder may not be written; check their owner and permissions, or use COLIBRI_MODE=READONLY',
  unavailable:
    'the file cannot be opened or read; check that its folder exists, that this user may use it, and that it is not on a read-only disk',
};

/** Turns what a library threw into a sentence that a person can act on; what is no fault of the store stays as it is. */
export function explainFault(path: string, fault: SqliteFault, error: unknown): unknown {
  if (error instanceof DatabaseError || fault === 'other') return error;
  return new DatabaseError(fault, `${path}: ${ADVICE[fault]}`, { cause: error });
}

export function faultOfSystemError(error: unknown): SqliteFault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'readonly';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'full';
    default:
      return 'unavailable';
  }
}
