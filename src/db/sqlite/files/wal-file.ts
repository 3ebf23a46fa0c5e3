import fs from 'node:fs';
import { promisify } from 'node:util';
import { DatabaseError } from '../../database.ts';
import { inodeOf } from './file.ts';

/**
 * If the last flush took less than this, the next one runs on this thread: passing it to another thread takes a third
 * of the time of a flush. A slow disk must not block the event loop; only its first slow flush after a fast one does.
 */
const MAX_BLOCKING_MS = 0.5;

/**
 * Flushes SQLite's write-ahead log. With `synchronous = FULL` SQLite would flush inside COMMIT and hold the write lock
 * meanwhile. After COMMIT the lock is free, and one flush covers the earlier commits of every process, because they
 * share the file. A checkpoint flushes the log before it reuses it.
 */
export class WalFile {
  readonly #path: string;
  readonly #checkpoint: () => boolean;
  readonly #nowMs: () => number;
  #file: number | undefined;
  #inode: number | undefined;
  #hasFailed = false;
  /** Unknown until a flush has succeeded. */
  #lastFlushMs = Number.POSITIVE_INFINITY;

  /** `checkpoint` copies the whole log into the database, and returns false if it could not. */
  constructor(path: string, checkpoint: () => boolean, nowMs: () => number = () => performance.now()) {
    this.#path = path;
    this.#checkpoint = checkpoint;
    this.#nowMs = nowMs;
  }

  /**
   * Call it before the first write: the system reports a disk error only to descriptors that were open at that time.
   */
  open(): void {
    this.#file ??= fs.openSync(this.#path, 'r+');
    this.#inode ??= fs.fstatSync(this.#file).ino;
  }

  /** False if the log was replaced: SQLite keeps writing to the old file, and those commits will be lost. */
  isInPlace(): boolean {
    return this.#inode === undefined || this.#inode === inodeOf(this.#path);
  }

  async flush(): Promise<void> {
    try {
      this.open();
      await this.#recover();
      const begunMs = this.#nowMs();
      // Read from `fs` here, so that a test can replace it.
      if (this.#lastFlushMs < MAX_BLOCKING_MS) fs.fdatasyncSync(this.#file as number);
      else await promisify(fs.fdatasync)(this.#file as number);
      this.#lastFlushMs = this.#nowMs() - begunMs;
    } catch (error) {
      this.#hasFailed = true;
      this.#lastFlushMs = Number.POSITIVE_INFINITY;
      throw this.#unsynced('the disk did not confirm that the change is stored', 'check the disk', error);
    }
    if (!this.isInPlace())
      throw this.#unsynced('the file was deleted or replaced while the server used it', 'restart the server');
  }

  /**
   * Lets the disk write what no flush has covered, so that a checkpoint, which blocks the event loop, finds little left
   * to flush. Opens a descriptor of its own: the system reports an error of the disk once to each, and an error that
   * ends here must still fail `flush`.
   */
  async writeAhead(): Promise<void> {
    let file: number | undefined;
    try {
      file = fs.openSync(this.#path, 'r+');
      await promisify(fs.fdatasync)(file);
    } catch {
      // The checkpoint flushes again, and reports it.
    } finally {
      if (file !== undefined) fs.closeSync(file);
    }
  }

  close(): void {
    if (this.#file !== undefined) fs.closeSync(this.#file);
    this.#file = undefined;
  }

  /**
   * After a failed flush the operating system may treat the lost pages as written, and later flushes succeed without
   * them. A checkpoint copies them into the database, so nothing depends on the log.
   */
  async #recover(): Promise<void> {
    if (!this.#hasFailed) return;
    if (!this.#checkpoint()) throw new Error('the write-ahead log could not be checkpointed');
    this.#hasFailed = false;
  }

  #unsynced(problem: string, remedy: string, cause?: unknown): DatabaseError {
    const advice = `${remedy}, then check whether the change was made before you repeat the call: it may be lost`;
    return new DatabaseError('unsynced', `${this.#path}: ${problem}`, { advice, cause });
  }
}
