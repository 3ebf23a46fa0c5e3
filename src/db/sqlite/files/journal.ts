import { closeSync, fstatSync, lstatSync, openSync, readSync, realpathSync, type Stats } from 'node:fs';
import { DatabaseError } from '../../database.ts';

/**
 * Refuses a foreign rollback journal. A ledger uses a write-ahead log, and SQLite would copy the pages of a journal
 * into it. Colibri creates a journal only while it changes the journal mode: for a new ledger, on the first start on a
 * backup, and in `restore`. Those change no row, so a crash leaves a journal that is safe to play back.
 */
export function assertNoJournal(databasePath: string): void {
  const path = realPathOf(databasePath);
  // In this order: a process that creates the ledger removes its journal before it writes a log or a second page. The
  // removal is on disk only with the header of the log: after a power loss, both may be there.
  const size = sizeOf(path);
  const hasLog = sizeOf(`${path}-wal`) > LOG_HEADER_BYTES;
  // SQLite removes the journal of an empty file without reading it.
  if (size === 0) return;
  const journal = `${path}-journal`;
  const stats = statOf(journal);
  if (stats === undefined || isHarmless(journal, stats, { path, size, hasLog })) return;
  throw new DatabaseError(
    'corrupt',
    `${journal} was not written by Colibri, and SQLite could change the ledger or delete another file when it reads it`,
    { advice: 'move it out of the folder, then run colibri verify' },
  );
}

interface Ledger {
  readonly path: string;
  readonly size: number;
  /** Whether the write-ahead log holds changes. */
  readonly hasLog: boolean;
}

/** The beginning and, if the journal names a super-journal, the end: https://www.sqlite.org/fileformat.html */
const MAGIC = Buffer.from('d9d505f920a163d7', 'hex');
/** SQLite reads no page from a shorter journal. */
const MIN_HEADER_BYTES = 512;
/** A write-ahead log that is not longer holds no change. */
const LOG_HEADER_BYTES = 32;
const MAX_HEADER_BYTES = 65_536;
const PAGE_BYTES = 4096;
/** A page number, the page and a checksum. */
const RECORD_BYTES = 4 + PAGE_BYTES + 4;

function isHarmless(journal: string, stats: Stats, ledger: Ledger): boolean {
  if (!stats.isFile()) return false;
  if (stats.size === 0) return true;
  let bytes: Buffer;
  let end: Buffer;
  try {
    bytes = readAt(journal, 0, MAX_HEADER_BYTES + RECORD_BYTES);
    end = readAt(journal, Math.max(0, stats.size - MAGIC.length), MAGIC.length);
  } catch (error) {
    // The process that changes the mode has just removed it.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
  // Playing back a journal deletes the super-journal that it names, which may be any file of this user.
  if (end.equals(MAGIC)) return false;
  if (bytes[0] === 0 || stats.size < MIN_HEADER_BYTES) return true;
  return !ledger.hasLog && isModeChange(bytes, stats.size, ledger);
}

/** Whether the journal holds only page 1, unchanged except for the journal mode. */
function isModeChange(journal: Buffer, journalSize: number, { path, size }: Ledger): boolean {
  const [pages, headerBytes] = [journal.readUInt32BE(16), journal.readUInt32BE(20)];
  // A file of one page holds no table.
  if (pages === 0) return size <= PAGE_BYTES;
  if (journal.readUInt32BE(24) !== PAGE_BYTES || pages * PAGE_BYTES !== size) return false;
  if (headerBytes < MIN_HEADER_BYTES || headerBytes > MAX_HEADER_BYTES || journalSize > headerBytes + RECORD_BYTES)
    return false;
  // An incomplete record is not played back.
  if (journalSize < headerBytes + RECORD_BYTES) return true;
  const page = journal.subarray(headerBytes + 4, headerBytes + 4 + PAGE_BYTES);
  if (journal.readUInt32BE(headerBytes) !== 1 || !page.subarray(18, 20).every(isKnownMode)) return false;
  // This process has no connection to a ledger in this mode, so closing the file drops no lock.
  return withoutMode(page).equals(withoutMode(readAt(path, 0, PAGE_BYTES)));
}

function isKnownMode(version: number): boolean {
  return version === 1 || version === 2;
}

/** Clears the journal mode, the change counter and the fields that SQLite derives from it. */
function withoutMode(firstPage: Buffer): Buffer {
  const page = Buffer.from(firstPage);
  if (page.length < 100) return page;
  return page.fill(0, 18, 20).fill(0, 24, 28).fill(0, 92, 100);
}

/** SQLite follows links before it names the journal. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // A parent is a file or may not be entered; opening the ledger reports it.
    return undefined;
  }
}

function sizeOf(path: string): number {
  return statOf(path)?.size ?? 0;
}

function readAt(path: string, position: number, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(length, Math.max(0, fstatSync(file).size - position)));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, position));
  } finally {
    closeSync(file);
  }
}
