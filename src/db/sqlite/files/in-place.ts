import { existsSync, realpathSync } from 'node:fs';
import { DatabaseError } from '../../database.ts';
import { explainFault, faultOfSystemError } from '../errors.ts';
import { mayWriteLedger } from './may-write.ts';

/**
 * SQLite needs a side file even to read. Where it can neither find nor create one, because the file or its folder may
 * not be written, `elsewhere` is used. `path` is a real path.
 */
export async function inPlaceOr<Result>(
  path: string,
  inPlace: () => Promise<Result>,
  elsewhere: () => Promise<Result>,
): Promise<Result> {
  if (mayWriteLedger(path)) return inPlace();
  if (existsSync(`${path}-shm`))
    try {
      return await inPlace();
    } catch (error) {
      // The side file may be unreadable, or left behind by a process that died.
      if (!(error instanceof DatabaseError) || !['unavailable', 'readonly'].includes(error.fault)) throw error;
    }
  return elsewhere();
}

/** SQLite follows links before it names the files beside the database. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw explainFault(path, faultOfSystemError(error), error);
  }
}
