import fs from 'node:fs';
import { promisify } from 'node:util';
import { DatabaseError } from '../../database.ts';
import { inodeOf } from './file.ts';

/**
 * Flushes SQLite's write-ahead log. With `synchronous = FULL` SQLite does the same inside COMMIT, but keeps the write lock
 * until the disk is done. Flushed after COMMIT, the lock is free meanwhile, and one flush also serves every commit before
 * it, of whatever process: all of them are in the one file. A checkpoint flushes the log itself before it reuses it.
 */
export class WalFile {
  readonly #path: string;
  readonly #checkpoint: () => boolean;
  #file: number | undefined;
  #inode: number | undefined;
  #hasFailed = false;

  /**
   * The path of the log, which lies beside the real path of its database, and a way to bring all of it into the database;
   * false when that was not possible.
   */
  constructor(path: string, checkpoint: () => boolean) {
    this.#path = path;
    this.#checkpoint = checkpoint;
  }

  /** Opened before the first write: an error of the disk is told to each descriptor that was open when it happened. */
  open(): void {
    this.#file ??= fs.openSync(this.#path, 'r+');
    this.#inode ??= fs.fstatSync(this.#file).ino;
  }

  /** SQLite writes to one log as long as it has the database open. A log that was replaced takes its commits along. */
  isInPlace(): boolean {
    return this.#inode === undefined || this.#inode === inodeOf(this.#path);
  }

  async flush(): Promise<void> {
    try {
      this.open();
      await this.#recover();
      // Asynchronous, because a slow disk must not block the event loop. Looked up now, so that a test can make it fail.
      await promisify(fs.fdatasync)(this.#file as number);
    } catch (error) {
      this.#hasFailed = true;
      throw this.#unsynced('the disk did not confirm that the change is stored; check the disk', error);
    }
    if (!this.isInPlace())
      throw this.#unsynced('the file was deleted or replaced while the server used it; restart the server');
  }

  close(): void {
    if (this.#file !== undefined) fs.closeSync(this.#file);
    this.#file = undefined;
  }

  /**
   * After a failed flush, the operating system may take the lost pages for written, and later flushes succeed without them.
   * A checkpoint copies them into the database, so that nothing depends on the log any more.
   */
  async #recover(): Promise<void> {
    if (!this.#hasFailed) return;
    if (!this.#checkpoint()) throw new Error('the write-ahead log could not be brought into the database');
    this.#hasFailed = false;
  }

  #unsynced(problem: string, cause?: unknown): DatabaseError {
    const message = `${this.#path}: ${problem}, then look before you repeat the call: its change may be lost`;
    return new DatabaseError('unsynced', message, { cause });
  }
}
