import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The lines that keep git from listing what agents wrote, wherever they are below other lines. */
const PRIVATE = ['/colibri.db*', '/spool/'];
const EVERYTHING = '*';
/** Windows has no such flag; its links need privileges. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** Whether the .gitignore of the folder of a ledger hides the ledger and the spool from git. */
export function isIgnored(folder: string): boolean {
  try {
    return hidesPrivate(withFile(folder, constants.O_RDONLY, readText));
  } catch {
    return false;
  }
}

/**
 * Makes git ignore the folder of a ledger. A .gitignore that came with a clone may hide nothing, or bring back by `!`
 * what other lines hide: the missing lines are added at its end, where they win. One that is a link is left as it is.
 */
export function ignoreFolder(folder: string): void {
  try {
    writeFileSync(join(folder, NAME), `${EVERYTHING}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    addMissingLines(folder);
  }
}

const NAME = '.gitignore';

function addMissingLines(folder: string): void {
  if (isIgnored(folder)) return;
  try {
    withFile(folder, constants.O_RDWR | constants.O_APPEND, (file) => {
      const text = readText(file);
      const lines = text === '' || text.endsWith('\n') ? PRIVATE : ['', ...PRIVATE];
      writeFileSync(file, `${lines.join('\n')}\n`);
    });
  } catch {
    // Read-only, or a link: `colibri doctor` reports a ledger that git lists.
  }
}

function withFile<Result>(folder: string, flags: number, work: (file: number) => Result): Result {
  const file = openSync(join(folder, NAME), flags | NO_FOLLOW | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.nlink > 1) throw new Error('not a file of its own');
    return work(file);
  } finally {
    closeSync(file);
  }
}

function readText(file: number): string {
  return readFileSync(file, 'utf8');
}

/** Only the lines after the last negation count: it may bring anything back. */
function hidesPrivate(text: string): boolean {
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  const after = new Set(lines.slice(lines.findLastIndex((line) => line.startsWith('!')) + 1));
  return after.has(EVERYTHING) || PRIVATE.every((line) => after.has(line));
}
