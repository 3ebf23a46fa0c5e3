import { closeSync, fstatSync, lstatSync, openSync, readSync, realpathSync, type Stats } from 'node:fs';
import { DatabaseError } from '../../database.ts';

/**
 * A ledger uses a write-ahead log, so a rollback journal beside one was written by somebody else, and SQLite would write
 * its pages into the ledger. Only a change of the journal mode makes one for a moment: at the creation of a ledger, at
 * the first start on a backup, and in `restore`. Those journals change no row, so that a crash then needs no remedy.
 */
export function assertNoJournal(databasePath: string): void {
  const path = realPathOf(databasePath);
  // In this order: a process that creates the ledger removes its journal before it writes a log or more than a page.
  const size = sizeOf(path);
  const hasLog = sizeOf(`${path}-wal`) > 0;
  // Beside an empty file SQLite removes the journal without reading it.
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
  /** Whether changes wait in a write-ahead log. */
  readonly hasLog: boolean;
}

/** The beginning and, if the journal names a super-journal, the end: https://www.sqlite.org/fileformat.html */
const MAGIC = Buffer.from('d9d505f920a163d7', 'hex');
/** SQLite reads no page from a journal that is shorter. */
const MIN_HEADER_BYTES = 512;
const MAX_HEADER_BYTES = 65_536;
const PAGE_BYTES = 4096;
/** The number of a page before it, and a checksum after it. */
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
    // The process that is changing the mode has removed it meanwhile.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
  // To play back a journal is to delete the super-journal that it names, which may be any file of this user.
  if (end.equals(MAGIC)) return false;
  if (bytes[0] === 0 || stats.size < MIN_HEADER_BYTES) return true;
  return !ledger.hasLog && isModeChange(bytes, stats.size, ledger);
}

/** Whether nothing but the mode of the database is in it, in the one page that a change of the mode writes. */
function isModeChange(journal: Buffer, journalSize: number, { path, size }: Ledger): boolean {
  const [pages, headerBytes] = [journal.readUInt32BE(16), journal.readUInt32BE(20)];
  // A file of one page holds no table.
  if (pages === 0) return size <= PAGE_BYTES;
  if (journal.readUInt32BE(24) !== PAGE_BYTES || pages * PAGE_BYTES !== size) return false;
  if (headerBytes < MIN_HEADER_BYTES || headerBytes > MAX_HEADER_BYTES || journalSize > headerBytes + RECORD_BYTES)
    return false;
  // Without the whole record there is nothing to play back.
  if (journalSize < headerBytes + RECORD_BYTES) return true;
  const page = journal.subarray(headerBytes + 4, headerBytes + 4 + PAGE_BYTES);
  if (journal.readUInt32BE(headerBytes) !== 1 || !page.subarray(18, 20).every(isKnownMode)) return false;
  // Nobody in this process has the ledger open in such a mode, so that closing the file drops no lock.
  return withoutMode(page).equals(withoutMode(readAt(path, 0, PAGE_BYTES)));
}

function isKnownMode(version: number): boolean {
  return version === 1 || version === 2;
}

/** The versions that say which journal is used, the counter of changes, and what SQLite derives from that. */
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
    // A file stands in the place of a folder, or the folder may not be entered: opening says so.
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
