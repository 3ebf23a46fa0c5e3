import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** Files that hold space in the spool: on a full disk one of them is overwritten, and becomes the event. */

const FILES = 16;
/** Holds an event with excerpts. */
const FILE_BYTES = 16_384;
const NAME = /^\.reserve-\d{1,2}$/;
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

export function isReserve(name: string): boolean {
  return NAME.test(name);
}

/** Creates the files that are missing. A full disk leaves those that are there. */
export function fillReserve(folder: string): void {
  const present = new Set(readdirSync(folder).filter(isReserve));
  if (present.size >= FILES) return;
  for (let number = 0; number < FILES; number += 1) {
    const name = `.reserve-${number}`;
    if (!present.has(name) && !createFile(join(folder, name))) return;
  }
}

export function removeReserve(folder: string): void {
  for (const name of readdirSync(folder).filter(isReserve)) rmSync(join(folder, name), { force: true });
}

/** Writes the text to this path without new space. False if no file is left that has enough. */
export function writeToReserve(folder: string, path: string, text: string, isDurable: boolean): boolean {
  for (const name of readdirSync(folder).filter(isReserve))
    if (take(join(folder, name), path) && overwrite(path, Buffer.from(text), isDurable)) return true;
  return false;
}

/** Whether the file was created, or another process did it. */
function createFile(path: string): boolean {
  let handle: number;
  try {
    handle = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, 0o600);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST';
  }
  try {
    // Not zeros, for which some file systems keep no space.
    writeFileSync(handle, Buffer.alloc(FILE_BYTES, ' '));
    return true;
  } catch {
    rmSync(path, { force: true });
    return false;
  } finally {
    closeSync(handle);
  }
}

/** Of several processes, one succeeds. */
function take(reserve: string, path: string): boolean {
  try {
    renameSync(reserve, path);
    return true;
  } catch {
    return false;
  }
}

/** The file may have come with a clone: a link would lead elsewhere. */
function overwrite(path: string, bytes: Buffer, isDurable: boolean): boolean {
  let handle: number | undefined;
  try {
    handle = openSync(path, constants.O_WRONLY | NO_FOLLOW);
    const { nlink, size } = fstatSync(handle);
    if (nlink > 1 || size < bytes.length) throw new Error('not a file of the reserve');
    writeFileSync(handle, bytes);
    ftruncateSync(handle, bytes.length);
    if (isDurable) fsyncSync(handle);
    return true;
  } catch {
    rmSync(path, { force: true });
    return false;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
