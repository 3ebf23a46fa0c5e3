import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { copySqlite } from '../../src/db/sqlite-copy.ts';
import { replaceSqlite } from '../../src/db/sqlite-replace.ts';
import { openTestDatabase, openTestLedger } from '../support/database.ts';
import { keeps } from '../support/keeps.ts';
import { tempFolder } from '../support/temp-folder.ts';

const MAGIC = Buffer.from('d9d505f920a163d7', 'hex');
const PAGE_BYTES = 4096;

describe('a rollback journal that came with a ledger', () => {
  const WAYS: readonly (readonly [name: string, open: (path: string) => Promise<unknown>])[] = [
    ['opened for writing', (path) => openTestDatabase({ path })],
    ['opened for reading', (path) => openTestDatabase({ path, readOnly: true })],
    ['opened through a link', (path) => openTestDatabase({ path: linkTo(path) })],
    ['copied', (path) => copySqlite(path, `${path}.copy`)],
    ['replaced', (path) => replaceSqlite({ target: path, staged: 'none', kept: `${path}.kept`, size: undefined })],
  ];
  for (const [name, open] of WAYS) {
    keeps('store/super-journal', `a ledger that is ${name} deletes no file outside of it`, async () => {
      const path = await makeLedger();
      const victim = join(tempFolder(), 'victim');
      writeFileSync(victim, 'precious');
      writeFileSync(`${path}-journal`, journalNaming(victim, path));
      await expect(open(path)).rejects.toThrow(/-journal was not written by Colibri.*move it/);
      expect(readFileSync(victim, 'utf8')).toBe('precious');
      expect(existsSync(`${path}-journal`)).toBe(true);
    });
  }

  keeps('store/super-journal', 'a link in the place of the journal is not followed', async () => {
    const path = await makeLedger();
    const target = join(tempFolder(), 'target');
    writeFileSync(target, 'precious');
    symlinkSync(target, `${path}-journal`);
    await expect(openTestDatabase({ path })).rejects.toThrow(/-journal was not written by Colibri/);
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });

  for (const [name, bytes] of [
    ['an empty one', Buffer.alloc(0)],
    ['one of zeros, as a finished transaction leaves it', Buffer.alloc(512)],
    ['a short one', Buffer.from('d9d505', 'hex')],
  ] as const) {
    keeps('store/super-journal', `${name} keeps nobody from opening the ledger`, async () => {
      const path = await makeLedger();
      writeFileSync(`${path}-journal`, bytes);
      const database = await openTestDatabase({ path });
      expect(await database.schemaVersion()).toBeGreaterThan(0);
    });
  }
});

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
