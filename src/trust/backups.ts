import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { Database, Reader } from '../db/database.ts';
import { LEDGER } from '../db/locate.ts';
import { isCompleteLedgerFile, isInWalMode } from '../db/sqlite/files/header.ts';
import { parseEntry } from '../integrity/index.ts';

/**
 * Ledger files beside the place of a ledger that can be copies of it, the one that changed last first. None where they
 * cannot be listed: what keeps this user from it is reported by the one that opens the ledger.
 */
export function listBackups(ledger: string): string[] {
  try {
    return selectCopies(ledger, listLedgerFiles(ledger))
      .sort((one, other) => other.mtimeMs - one.mtimeMs)
      .map(({ path }) => path);
  } catch {
    return [];
  }
}

function listLedgerFiles(ledger: string): LedgerFile[] {
  const folder = dirname(ledger);
  const own = statSync(ledger, { throwIfNoEntry: false });
  return readdirSync(folder)
    .filter((name) => extname(name) === extname(ledger))
    .flatMap((name) => readLedgerFile(join(folder, name), own));
}

interface LedgerFile {
  readonly path: string;
  readonly mtimeMs: number;
  readonly isInWalMode: boolean;
}

/**
 * A link to the ledger, or its name in capitals, leads to the ledger itself, which must not be opened: closing it would
 * drop its locks. Other links are left out: one that came with a clone may lead anywhere.
 */
function readLedgerFile(path: string, own: Stats | undefined): LedgerFile[] {
  try {
    const found = lstatSync(path);
    const isOwn = found.ino === own?.ino && found.dev === own.dev;
    if (isOwn || !found.isFile() || !isCompleteLedgerFile(path)) return [];
    return [{ path, mtimeMs: found.mtimeMs, isInWalMode: isInWalMode(path) }];
  } catch {
    return [];
  }
}

/**
 * The folder of a project has one ledger. Elsewhere several can share a folder: one that a server has opened is in WAL
 * mode, which a backup is not. Beside such a ledger only the name tells whose copies the others are.
 */
function selectCopies(ledger: string, found: readonly LedgerFile[]): LedgerFile[] {
  const stem = basename(ledger, extname(ledger));
  const isNamedAfter = ({ path }: LedgerFile) => basename(path).startsWith(`${stem}-`);
  const isOfProject = basename(dirname(ledger)) === dirname(LEDGER);
  const isShared = !isOfProject && found.some((file) => file.isInWalMode && !isNamedAfter(file));
  return found.filter((file) => !isShared || isNamedAfter(file));
}

/**
 * The newest backup beside a ledger without tasks, if it is older than the ledger: then it is of an earlier one, which
 * was probably deleted by mistake.
 */
export async function findEarlierBackup(
  database: Pick<Database, 'engine' | 'location' | 'read'>,
): Promise<string | undefined> {
  const [newest] = database.engine === 'sqlite' ? listBackups(database.location) : [];
  if (newest === undefined) return undefined;
  const createdAt = await database.read(findCreation);
  const changedMs = lstatSync(newest, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
  return createdAt !== undefined && changedMs < Date.parse(createdAt) ? newest : undefined;
}

/** Undefined if the ledger has a task. */
async function findCreation(reader: Reader): Promise<string | undefined> {
  const [task] = await reader.query('SELECT 1 FROM tasks LIMIT 1');
  const [first] = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = 0');
  return task === undefined && first !== undefined ? parseEntry(first.entry)?.at : undefined;
}
