import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { SCHEMA_VERSION } from '../../db/migrate.ts';
import { openSqlite } from '../../db/sqlite.ts';
import { toError } from '../../errors.ts';
import { type LedgerHead, readHead } from '../../ledger/head.ts';
import { openLedgerReadOnly } from '../../ledger/open.ts';

const MAX_COPY_BYTES = 256 * 1024 ** 2;

export interface LedgerState {
  readonly schemaVersion: number;
  /** Undefined when the schema is another one, or when the file is too large to be copied for a look. */
  readonly head: LedgerHead | undefined;
}

/**
 * SQLite puts side files beside a database that it opens, even for reading. Where servers have put them already, the
 * ledger is read in its place; where none are, a copy is, so that the folder stays as it was.
 */
export async function readLedgerCopy(path: string): Promise<LedgerState> {
  if (existsSync(`${path}-shm`)) return readState(path);
  if (statSync(path).size > MAX_COPY_BYTES) return { schemaVersion: readHeader(path), head: undefined };
  const folder = mkdtempSync(join(tmpdir(), 'colibri-doctor-'));
  try {
    const copy = join(folder, basename(path));
    copyFileSync(path, copy, constants.COPYFILE_FICLONE);
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE);
    return await readState(copy);
  } catch (error) {
    const { message } = toError(error);
    throw new Error(message.replaceAll(folder, dirname(path)), { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readState(path: string): Promise<LedgerState> {
  const database = await openSqlite({ path, readOnly: true, durability: 'full', busyTimeoutMs: 5_000 });
  try {
    const schemaVersion = await database.schemaVersion();
    if (schemaVersion !== SCHEMA_VERSION) return { schemaVersion, head: undefined };
    await openLedgerReadOnly(database);
    return { schemaVersion, head: await database.read(readHead) };
  } finally {
    await database.close();
  }
}

/** The version of the schema, at its place in the header of the file: https://www.sqlite.org/fileformat.html#user_version */
function readHeader(path: string): number {
  const header = Buffer.alloc(100);
  const handle = openSync(path, 'r');
  try {
    readSync(handle, header, 0, header.length, 0);
    return header.readInt32BE(60);
  } finally {
    closeSync(handle);
  }
}
