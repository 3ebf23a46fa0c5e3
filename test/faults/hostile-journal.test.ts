import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { copySqlite } from '../../src/db/sqlite/files/copy.ts';
import { replaceSqlite } from '../../src/db/sqlite/files/replace.ts';
import { tempFolder } from '../support/folders.ts';
import { expectWhole, openTestDatabase, openTestLedger, tamper } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { journalBetween, PAGE_BYTES, writeHotJournal } from '../verification/forge/sqlite-pages.ts';

const MAGIC = Buffer.from('d9d505f920a163d7', 'hex');

const LOG_HEADER_BYTES = 32;

describe('a rollback journal that came with a ledger', () => {
  const WAYS: readonly (readonly [name: string, open: (path: string) => Promise<unknown>])[] = [
    ['opened for writing', (path) => openTestDatabase({ path })],
    ['opened for reading', (path) => openTestDatabase({ path, readOnly: true })],
    ['opened through a link', (path) => openTestDatabase({ path: linkTo(path) })],
    ['copied', (path) => copySqlite(path, `${path}.copy`)],
    ['replaced', (path) => replaceSqlite({ target: path, staged: 'none', kept: `${path}.kept`, size: undefined })],
  ];
  for (const [name, open] of WAYS) {
    promiseTest('store/super-journal', `a ledger that is ${name} deletes no other file`, async () => {
      const path = await makeLedger();
      const victim = join(tempFolder(), 'victim');
      writeFileSync(victim, 'precious');
      writeFileSync(`${path}-journal`, journalNaming(victim, path));
      await expect(open(path)).rejects.toThrow(/-journal was not written by Colibri.*move it/);
      expect(readFileSync(victim, 'utf8')).toBe('precious');
      expect(existsSync(`${path}-journal`)).toBe(true);
    });
  }

  promiseTest('store/super-journal', 'a symbolic link as the journal is not followed', async () => {
    const path = await makeLedger();
    const target = join(tempFolder(), 'target');
    writeFileSync(target, 'precious');
    symlinkSync(target, `${path}-journal`);
    await expect(openTestDatabase({ path })).rejects.toThrow(/-journal was not written by Colibri/);
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });

  for (const [name, open] of WAYS) {
    promiseTest('store/journal', `a ledger that is ${name} is not changed by it`, async () => {
      const path = await makeLedger();
      writeFileSync(`${path}-journal`, journalBetween(path, await withOtherTasks(path)));
      await expectRefused(path, open);
    });
  }

  const HOSTILE: readonly (readonly [name: string, write: (path: string) => void])[] = [
    ['one that cuts the ledger to a page', (path) => writeJournal(path, writeHotJournal(new Map(), 1))],
    ['one that empties the ledger', (path) => writeJournal(path, writeHotJournal(new Map(), 0))],
    ['one with another first page', (path) => writeJournal(path, withFirstPage(path, 40, 0xff))],
    ['one with an unknown mode', (path) => writeJournal(path, withFirstPage(path, 18, 9))],
    ['one with the first page under another number', (path) => writeJournal(path, withFirstPage(path, 18, 1, 2))],
    ['one that changes the mode while changes wait in the log', modeChangeBesideLog],
    ['one of another page size', (path) => writeJournal(path, withFirstPage(path, 18, 1).fill(0x20, 26, 27))],
    [
      'one with more after the first page',
      (path) => writeJournal(path, Buffer.concat([withFirstPage(path, 18, 1), MAGIC, MAGIC, Buffer.alloc(1)])),
    ],
    ['a link', (path) => symlinkSync(path, `${path}-journal`)],
    ['a folder', (path) => mkdirSync(`${path}-journal`)],
  ];
  for (const [name, write] of HOSTILE)
    promiseTest('store/journal', `${name} is refused and reported`, async () => {
      const path = await makeLedger();
      write(path);
      for (const [, open] of WAYS) await expectRefused(path, open);
    });

  for (const [left, logBytes] of [
    ['a killed process', 0],
    ['a power loss', LOG_HEADER_BYTES],
  ] as const)
    promiseTest('store/journal', `one that ${left} left while the ledger was created needs no repair`, async () => {
      const path = join(tempFolder(), 'colibri.db');
      await tamper(path, 'PRAGMA journal_mode = WAL');
      expect(statSync(path).size).toBe(PAGE_BYTES);
      writeFileSync(`${path}-journal`, writeHotJournal(new Map(), 0));
      // The removal of the journal and the header of the log reach the disk together.
      if (logBytes > 0) writeFileSync(`${path}-wal`, Buffer.alloc(logBytes, 1));
      await expectWhole(await openTestLedger({ path }));
      expect(existsSync(`${path}-journal`)).toBe(false);
    });

  for (const [from, to] of [
    ['DELETE', 'WAL'],
    ['WAL', 'DELETE'],
  ] as const)
    promiseTest(
      'store/journal',
      `a journal left by a killed change from ${from} to ${to} needs no repair`,
      async () => {
        const path = await makeLedger();
        await tamper(path, `PRAGMA journal_mode = ${from}`);
        const before = readFileSync(path);
        await tamper(path, `PRAGMA journal_mode = ${to}`);
        writeFileSync(`${path}-journal`, journalBetween(path, before));
        await expectWhole(await openTestLedger({ path }));
        expect(existsSync(`${path}-journal`)).toBe(false);
      },
    );

  for (const [name, bytes] of [
    ['an empty one', Buffer.alloc(0)],
    ['one of zeros, as a finished transaction leaves it', Buffer.alloc(512)],
    ['a short one', Buffer.from('d9d505', 'hex')],
  ] as const) {
    promiseTest('store/super-journal', `${name} does not prevent opening the ledger`, async () => {
      const path = await makeLedger();
      writeFileSync(`${path}-journal`, bytes);
      const database = await openTestDatabase({ path });
      expect(await database.schemaVersion()).toBeGreaterThan(0);
    });
  }
});

async function expectRefused(path: string, open: (path: string) => Promise<unknown>): Promise<void> {
  const before = readFileSync(path);
  await expect(open(path)).rejects.toThrow(`${path}-journal was not written by Colibri`);
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(existsSync(`${path}-journal`)).toBe(true);
}

function writeJournal(path: string, bytes: Buffer): void {
  writeFileSync(`${path}-journal`, bytes);
}

/** The same file with other rows, as a journal could restore it. */
async function withOtherTasks(path: string): Promise<Buffer> {
  const other = `${path}.other`;
  copyFileSync(path, other);
  await tamper(other, "UPDATE ledger_entries SET entry = 'forged'; PRAGMA journal_mode = DELETE");
  return readFileSync(other);
}

function withFirstPage(path: string, at: number, value: number, number = 1): Buffer {
  const bytes = readFileSync(path);
  const page = Buffer.from(bytes.subarray(0, PAGE_BYTES));
  page[at] = value;
  return writeHotJournal(new Map([[number, page]]), bytes.length / PAGE_BYTES);
}

function modeChangeBesideLog(path: string): void {
  writeJournal(path, withFirstPage(path, 18, 1));
  writeFileSync(`${path}-wal`, Buffer.alloc(LOG_HEADER_BYTES + 1, 1));
}

async function makeLedger(): Promise<string> {
  const folder = join(tempFolder(), '.colibri');
  mkdirSync(folder, { mode: 0o700 });
  const path = join(folder, 'colibri.db');
  await (await openTestLedger({ path })).close();
  return path;
}

function linkTo(path: string): string {
  const link = join(tempFolder(), 'link.db');
  symlinkSync(path, link);
  return link;
}

/** A hot journal without pages to restore, at whose end the name of a super-journal is: the file format of SQLite. */
function journalNaming(victim: string, database: string): Buffer {
  const header = Buffer.alloc(512);
  MAGIC.copy(header);
  header.writeUInt32BE(statSync(database).size / PAGE_BYTES, 16);
  header.writeUInt32BE(header.length, 20);
  header.writeUInt32BE(PAGE_BYTES, 24);
  const name = Buffer.from(victim);
  const numbers = Buffer.alloc(12);
  numbers.writeUInt32BE(Math.floor(2 ** 30 / PAGE_BYTES) + 1, 0);
  numbers.writeUInt32BE(name.length, 4);
  numbers.writeUInt32BE(
    name.reduce((sum, byte) => sum + byte, 0),
    8,
  );
  return Buffer.concat([header, numbers.subarray(0, 4), name, numbers.subarray(4), MAGIC]);
}
