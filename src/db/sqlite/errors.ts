import { toError } from '../../errors.ts';
import { FULL_DISK, hasNoSpace, isFullDisk } from '../../files/full-disk.ts';
import { DatabaseError, type DatabaseFault } from '../database.ts';

/** A file has no connection that can be lost or refused. */
export type SqliteFault = Exclude<DatabaseFault, 'lost' | 'unknown' | 'refused' | 'unsynced'>;

const EXPLANATIONS: Readonly<
  Record<Exclude<SqliteFault, 'other'>, { readonly problem: string; readonly advice: string }>
> = {
  busy: {
    problem: 'another process keeps the ledger locked',
    advice: 'call again, and if it stays locked look for a program that has the file open',
  },
  full: FULL_DISK,
  corrupt: {
    problem: 'the file is damaged or is not a ledger',
    advice: 'restore a backup, or set COLIBRI_DB_PATH to another file',
  },
  readonly: {
    problem: 'the file or its folder may not be written',
    advice: 'check their owner and permissions, or use COLIBRI_MODE=READONLY',
  },
  unavailable: {
    problem: 'the file cannot be opened, read or written',
    advice: 'check that its folder exists, that this user may use it, and that it is not on a read-only disk',
  },
};

/** SQLite gives this error of the file header the code of a mistake in a statement. */
const UNKNOWN_FORMAT = 'unsupported file format';

/** Explains an error of the SQLite library; returns errors that are not faults of the store unchanged. */
export function explainFault(path: string, fault: SqliteFault, error: unknown): unknown {
  if (fault === 'other' && toError(error).message === UNKNOWN_FORMAT) return explainFault(path, 'corrupt', error);
  if (error instanceof DatabaseError || fault === 'other') return error;
  // Without space, SQLite cannot create the files beside the ledger that it needs even to read it.
  const actual = fault === 'unavailable' && hasNoSpace(path) ? 'full' : fault;
  const { problem, advice } = EXPLANATIONS[actual];
  return new DatabaseError(actual, `${path}: ${problem}`, { advice, cause: error });
}

export function faultOfSystemError(error: unknown): SqliteFault {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'readonly';
    default:
      return isFullDisk(error) ? 'full' : 'unavailable';
  }
}
