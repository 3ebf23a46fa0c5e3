import { chmodSync, constants, copyFileSync, existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { toError } from '../../../errors.ts';
import { DatabaseError } from '../../database.ts';
import { explainFault, faultOfSystemError } from '../errors.ts';
import { readFileState } from './file-state.ts';

/** Copies a ledger and its write-ahead log as files. Returns their state; undefined if they changed meanwhile. */
export function copyFiles(path: string, copy: string): string | undefined {
  const state = readFileState(path);
  copyFileSync(path, copy, constants.COPYFILE_FICLONE);
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE);
  else rmSync(`${copy}-wal`, { force: true });
  return readFileState(path) === state ? state : undefined;
}

const MAX_COPIES = 3;

/**
 * Copies a ledger that SQLite cannot read in place to a folder where it can. Returns the state of the files, and
 * refuses a ledger that does not stop changing. `location` is the path that messages name.
 */
export function copyForReading(path: string, copy: string, location: string): string {
  rmSync(`${copy}-shm`, { force: true });
  makeWritable(copy);
  for (let attempt = 0; attempt < MAX_COPIES; attempt += 1) {
    const state = tryCopy(path, copy, location);
    if (state === undefined) continue;
    // A copy has the mode of a file that may only be read, and SQLite gives its side files the same mode.
    makeWritable(copy);
    return state;
  }
  throw new DatabaseError('busy', `${location}: changes while it is copied to a folder where it can be read`, {
    advice: 'run the command again, or ask the owner of the ledger for a backup',
  });
}

function makeWritable(copy: string): void {
  for (const suffix of ['', '-wal']) if (existsSync(copy + suffix)) chmodSync(copy + suffix, 0o600);
}

function tryCopy(path: string, copy: string, location: string): string | undefined {
  try {
    return copyFiles(path, copy);
  } catch (error) {
    throw explainFault(`copying ${location} to ${dirname(copy)}`, faultOfSystemError(error), error);
  }
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
