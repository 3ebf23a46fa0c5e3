import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/folders.ts';
import {
  expectWholeLog,
  noteEntry,
  openTestDatabase,
  openTestLedger,
  verifyFile,
} from '../../../test/support/ledger.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { append } from '../../ledger/append.ts';
import { verifyTables } from '../../verification/verify-ledger.ts';
import { type Database, DatabaseError } from '../database.ts';
import { faultOfName, faultOfNumber, hasBuiltInSqlite } from './driver.ts';
import { explainFault, faultOfSystemError } from './errors.ts';

describe('a store that fails', () => {
  promiseTest('store/fault-named', 'a full disk, which takes entries again when there is room', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const database = await openTestLedger({ path });
    const before = (await database.read(verifyTables)).size;
    await limitPages(database, 12);
    const failure = await fill(database, 200).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({ fault: 'full', message: expect.stringContaining('free some space') });
    expect((await database.read(verifyTables)).size).toBe(before);
    await limitPages(database, 100_000);
    await fill(database, 200);
    expect((await database.read(verifyTables)).size).toBe(before + 200);
    await expectWholeLog(database);
    await database.close();
  });

  promiseTest('store/fault-named', 'a file of garbage, which stays as it is', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const garbage = Buffer.from('this is no database '.repeat(1000));
    writeFileSync(path, garbage);
    await expect(openTestDatabase({ path })).rejects.toMatchObject({
      fault: 'corrupt',
      message: expect.stringContaining(path),
    });
    expect(readFileSync(path)).toEqual(garbage);
  });

  for (const [name, keep] of [
    ['in the middle of a page', 20_000],
    ['between two pages', 4096 * 6],
    ['to its header', 100],
  ] as const) {
    promiseTest('store/fault-named', `a file that was cut ${name}`, async () => {
      const path = await filledFile();
      truncateSync(path, keep);
      await expect(verifyFile(path)).rejects.toMatchObject({ fault: 'corrupt' });
    });
  }

  promiseTest('store/fault-named', 'a file with a page of noise in it', async () => {
    const path = await filledFile();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 4096, bytes.length - 4096);
    writeFileSync(path, bytes);
    await expect(verifyFile(path)).rejects.toMatchObject({ fault: 'corrupt' });
  });

  for (const [name, pathIn] of [
    ['a folder that does not exist', (folder: string) => join(folder, 'missing', 'colibri.db')],
    ['a path below a file', (folder: string) => join(folder, 'file', 'colibri.db')],
    ['a path that is a folder', (folder: string) => join(folder, 'folder')],
    ['a path that is too long', (folder: string) => join(folder, 'x'.repeat(300))],
  ] as const) {
    promiseTest('store/fault-named', name, async () => {
      const folder = tempFolder();
      writeFileSync(join(folder, 'file'), 'not a folder');
      mkdirSync(join(folder, 'folder'));
      const path = pathIn(folder);
      await expect(openTestDatabase({ path })).rejects.toMatchObject({
        name: 'DatabaseError',
        fault: 'unavailable',
        message: expect.stringContaining(path),
      });
    });
  }
});

describe('the names of faults', () => {
  it.each([
    ['SQLITE_BUSY', 5, 'busy'],
    ['SQLITE_BUSY_SNAPSHOT', 517, 'busy'],
    ['SQLITE_LOCKED_SHAREDCACHE', 262, 'busy'],
    ['SQLITE_PROTOCOL', 15, 'busy'],
    ['SQLITE_FULL', 13, 'full'],
    ['SQLITE_CORRUPT', 11, 'corrupt'],
    ['SQLITE_CORRUPT_INDEX', 779, 'corrupt'],
    ['SQLITE_NOTADB', 26, 'corrupt'],
    ['SQLITE_READONLY', 8, 'readonly'],
    ['SQLITE_READONLY_DBMOVED', 1032, 'readonly'],
    ['SQLITE_PERM', 3, 'readonly'],
    ['SQLITE_IOERR_FSYNC', 1034, 'unavailable'],
    ['SQLITE_CANTOPEN_ISDIR', 526, 'unavailable'],
    ['SQLITE_CONSTRAINT_TRIGGER', 1811, 'other'],
    ['SQLITE_ERROR', 1, 'other'],
    ['ERR_SOMETHING_ELSE', 0, 'other'],
  ] as const)('%s and %d both mean %s', (code, number, fault) => {
    expect(faultOfName(code)).toBe(fault);
    expect(faultOfNumber(number)).toBe(fault);
  });

  it.each([
    ['EACCES', 'readonly'],
    ['EROFS', 'readonly'],
    ['ENOSPC', 'full'],
    ['EDQUOT', 'full'],
    ['ENOTDIR', 'unavailable'],
  ])('the system error %s means %s', (code, fault) => {
    expect(faultOfSystemError(Object.assign(new Error(code), { code }))).toBe(fault);
  });

  it('returns errors that are not faults of the store unchanged', () => {
    const bug = new TypeError('a bug');
    const explained = new DatabaseError('full', 'explained already');
    expect(explainFault('x.db', 'other', bug)).toBe(bug);
    expect(explainFault('x.db', 'corrupt', explained)).toBe(explained);
    expect(explainFault('x.db', 'full', bug)).toMatchObject({ fault: 'full', cause: bug });
  });

  it.each([
    ['20.19.0', false],
    ['22.12.9', false],
    ['22.13.0', false],
    ['22.15.9', false],
    ['22.16.0', true],
    ['23.0.0', false],
    ['24.0.0', true],
    ['24.1.2', true],
  ])('Node %s brings SQLite along: %s', (version, expected) => {
    expect(hasBuiltInSqlite(version)).toBe(expected);
  });
});

async function limitPages(database: Database, pages: number): Promise<void> {
  await database.read((reader) => reader.query(`PRAGMA max_page_count = ${pages}`));
}

function fill(database: Database, entries: number): Promise<void> {
  return database.write({ durable: true }, async (transaction) => {
    for (let count = 0; count < entries; count += 1) {
      await append(transaction, noteEntry(count + 1, 'x'.repeat(200)));
    }
  });
}

async function filledFile(): Promise<string> {
  const path = join(tempFolder(), 'colibri.db');
  const database = await openTestLedger({ path });
  await fill(database, 400);
  await database.close();
  return path;
}
