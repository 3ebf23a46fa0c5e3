import fs from 'node:fs';
import { DatabaseError } from './database.ts';

/**
 * Flushes SQLite's write-ahead log. With `synchronous = FULL` SQLite does the same inside COMMIT, but keeps the write lock
 * until the disk is done. Flushed after COMMIT, the lock is free meanwhile, and one flush also serves every commit before
 * it, of whatever process: all of them are in the one file. A checkpoint flushes the log itself before it reuses it.
 */
export class WalFile {
  readonly #path: string;
  #file: number | undefined;

  /** The path of the log, which lies beside the real path of its database. */
  constructor(path: string) {
    this.#path = path;
  }

  flush(): void {
    try {
      this.#file ??= fs.openSync(this.#path, 'r+');
      // Called through the module object, so that a test can make the disk fail.
      fs.fdatasyncSync(this.#file);
    } catch (error) {
      throw this.#unsynced('the disk did not confirm that the change is stored; check the disk', error);
    }
    // SQLite writes to one log as long as it has the database open. A log that was replaced takes its commits along.
    if (fs.fstatSync(this.#file).ino !== fs.statSync(this.#path, { throwIfNoEntry: false })?.ino)
      throw this.#unsynced('the file was deleted or replaced while the server used it; restart the server');
  }

  close(): void {
    if (this.#file !== undefined) fs.closeSync(this.#file);
    this.#file = undefined;
  }

  #unsynced(problem: string, cause?: unknown): DatabaseError {
    const message = `${this.#path}: ${problem}, then look before you repeat the call: its change may be lost`;
    return new DatabaseError('unsynced', message, { cause });
  }
}
