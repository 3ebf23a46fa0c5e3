import { constants, copyFileSync, existsSync, rmSync } from 'node:fs';
import { toError } from '../../../errors.ts';
import { DatabaseError } from '../../database.ts';
import { readFileState } from './file-state.ts';

/** Copies a ledger and its write-ahead log as files. Returns their state; undefined if they changed meanwhile. */
export function copyFiles(path: string, copy: string): string | undefined {
  const state = readFileState(path);
  copyFileSync(path, copy, constants.COPYFILE_FICLONE);
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE);
  else rmSync(`${copy}-wal`, { force: true });
  return readFileState(path) === state ? state : undefined;
}

/** Errors name the path of the ledger, because users do not know the copy. */
export function nameOriginal(thrown: unknown, copyFolder: string, folder: string): Error {
  const error = toError(thrown);
  if (!error.message.includes(copyFolder)) return error;
  if (!(error instanceof DatabaseError))
    return new Error(error.message.replaceAll(copyFolder, folder), { cause: error });
  const { fault, problem, advice } = error;
  return new DatabaseError(fault, problem.replaceAll(copyFolder, folder), { advice, cause: error });
}
