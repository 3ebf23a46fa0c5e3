import { closeSync, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { DatabaseError } from './database.ts';

/** The last bytes of a rollback journal that names a super-journal: https://www.sqlite.org/fileformat.html */
const JOURNAL_MAGIC = Buffer.from('d9d505f920a163d7', 'hex');

/**
 * When SQLite plays back a journal, it deletes the super-journal that the journal names, which may be any file of this
 * user. Only a transaction over several databases has one, and Colibri never makes such a transaction.
 */
export function assertNoSuperJournal(databasePath: string): void {
  const journal = `${realPathOf(databasePath)}-journal`;
  const stats = lstatSync(journal, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return;
  if (stats.isFile() && !endsWithMagic(journal)) return;
  throw new DatabaseError(
    'corrupt',
    `${journal} was not written by Colibri, and SQLite could delete another file when it reads it; move it out of the folder, then run colibri verify`,
  );
}

/** SQLite follows links before it names the journal. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function endsWithMagic(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const end = Buffer.alloc(JOURNAL_MAGIC.length);
    readSync(file, end, 0, end.length, Math.max(0, size - end.length));
    return end.equals(JOURNAL_MAGIC);
  } finally {
    closeSync(file);
  }
}
