import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../test/support/folders.ts';
import { AT, openRaw, processIdOf, tamper } from '../../test/support/ledger.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import type { Database } from '../db/database.ts';
import { SCHEMA_VERSION } from '../db/migrate.ts';
import { openLedger } from '../ledger/open.ts';
import { writeToSpool } from '../recorder/spool.ts';
import { type OpenOptions, openDatabase } from './open-database.ts';

describe('where the ledger is', () => {
  promiseTest('store/owner-only', 'a new folder, its files and their side files', async () => {
    const path = join(tempFolder(), 'a', '.colibri', 'colibri.db');
    const database = await open({ dbPath: path });
    await openLedger(database, 'tester', AT);
    await database.enlist(processIdOf('someone'));
    expect(mode(dirname(path))).toBe(0o700);
    const files = readdirSync(dirname(path));
    expect(files).toEqual(expect.arrayContaining(['.gitignore', 'colibri.db', 'colibri.db-wal', 'colibri.db-shm']));
    expect(files).toEqual(expect.arrayContaining([`colibri.db-${processIdOf('someone')}.live`]));
    for (const file of files) expect([file, mode(join(dirname(path), file))]).toEqual([file, 0o600]);
    expect(readFileSync(join(dirname(path), '.gitignore'), 'utf8')).toBe('*\n');
    await database.close();
    expect(readdirSync(dirname(path)).sort()).toEqual(['.gitignore', 'colibri.db']);
  });

  for (const [name, text, added] of [
    ['is empty', '', '/colibri.db*\n/spool/\n'],
    ['hides something else', '# mine\nnotes', '\n/colibri.db*\n/spool/\n'],
    ['brings the ledger back', '*\n!colibri.db\n', '/colibri.db*\n/spool/\n'],
    ['hides everything', '# mine\r\n*\r\n', ''],
    ['hides what agents wrote', '!checkpoint\n/spool/\n/colibri.db*\n', ''],
  ] as const)
    promiseTest('clone/ignored', `a .gitignore that came with a clone ${name}`, async () => {
      const root = tempFolder();
      execFileSync('git', ['init', '-q', root]);
      const path = join(root, '.colibri', 'colibri.db');
      const ignored = join(dirname(path), '.gitignore');
      mkdirSync(dirname(path));
      writeFileSync(ignored, text);
      await openLedger(await open({ projectDbPath: path }), 'tester', AT);
      expect(readFileSync(ignored, 'utf8')).toBe(text + added);
      expect(listUntracked(root).filter((file) => file !== '.colibri/.gitignore')).toEqual([]);
    });

  promiseTest('clone/ignored', 'a .gitignore that is a link is not followed', async () => {
    const [root, victim] = [tempFolder(), join(tempFolder(), 'victim')];
    const path = join(root, '.colibri', 'colibri.db');
    mkdirSync(dirname(path));
    writeFileSync(victim, 'kept');
    symlinkSync(victim, join(dirname(path), '.gitignore'));
    await openLedger(await open({ projectDbPath: path }), 'tester', AT);
    expect(readFileSync(victim, 'utf8')).toBe('kept');
  });

  promiseTest('clone/ignored', 'events of hooks beside a ledger that came with a clone', () => {
    const root = tempFolder();
    execFileSync('git', ['init', '-q', root]);
    const folder = join(root, '.colibri');
    mkdirSync(folder);
    writeToSpool(join(folder, 'spool'), '{}', { at: new Date(AT), isDurable: false });
    expect(readdirSync(folder)).toEqual(['spool']);
    expect(readdirSync(join(folder, 'spool'))).toHaveLength(2);
    expect(listUntracked(root)).toEqual([]);
  });

  it('puts nothing but the ledger into a folder that was there before', async () => {
    const folder = tempFolder();
    const database = await open({ dbPath: join(folder, 'own.db') });
    await database.close();
    expect(readdirSync(folder)).toEqual(['own.db']);
  });

  it('deletes the temporary ledger of TEST mode on close', async () => {
    const database = await open({ mode: 'TEST' });
    await openLedger(database, 'tester', AT);
    expect(existsSync(database.location)).toBe(true);
    await database.close();
    expect(existsSync(dirname(database.location))).toBe(false);
  });

  it('keeps a named ledger in TEST mode', async () => {
    const path = join(tempFolder(), 'kept.db');
    await (await open({ mode: 'TEST', dbPath: path })).close();
    expect(existsSync(path)).toBe(true);
  });

  it('does not create a ledger for a reader', async () => {
    const path = join(tempFolder(), 'none', 'colibri.db');
    await expect(open({ mode: 'READONLY', dbPath: path, readOnly: true })).rejects.toThrow(/no ledger at .*FULL/);
    expect(existsSync(dirname(path))).toBe(false);
  });

  it('accepts an empty file', async () => {
    const path = join(tempFolder(), 'colibri.db');
    writeFileSync(path, '');
    await openLedger(await open({ dbPath: path }), 'tester', AT);
  });
});

describe('a file that is not ours to use', () => {
  const FOREIGN = 'CREATE TABLE cookies (name TEXT); INSERT INTO cookies VALUES (1)';
  for (const [name, script, message] of [
    ['of another program', FOREIGN, /another program.*COLIBRI_DB_PATH/],
    ['of another program, without a table', 'PRAGMA user_version = 3', /another program/],
    ['of another program that names itself', 'PRAGMA application_id = 252006675', /another program/],
    ['of another program, with a write-ahead log', `PRAGMA journal_mode = WAL; ${FOREIGN}`, /another program/],
    ['of a newer version', newer(SCHEMA_VERSION + 1), /newer Colibri \(schema \d+.*update/],
    ['of a much newer version in another format', newer(999), /newer Colibri/],
    [
      'of a newer version, with a write-ahead log',
      `PRAGMA journal_mode = WAL; ${newer(SCHEMA_VERSION + 2)}`,
      /newer Colibri/,
    ],
  ] as const) {
    promiseTest('store/untouched', name, async () => {
      const path = join(tempFolder(), 'colibri.db');
      await tamper(path, script);
      const bytes = readFileSync(path);
      await expect(open({ dbPath: path })).rejects.toThrow(message);
      expect(readFileSync(path)).toEqual(bytes);
    });
  }

  for (const [name, script] of [
    ['of another program', FOREIGN],
    ['of a newer version', newer(SCHEMA_VERSION + 1)],
  ] as const) {
    promiseTest('store/untouched', `${name} that died and left its log behind`, async () => {
      const [source, folder] = [tempFolder(), tempFolder()];
      const program = await openRaw(join(source, 'colibri.db'));
      program.exec(`PRAGMA journal_mode = WAL; ${script}`);
      for (const file of ['colibri.db', 'colibri.db-wal']) cpSync(join(source, file), join(folder, file));
      const before = contents(folder);
      expect(before['colibri.db-wal']?.length).toBeGreaterThan(0);
      await expect(open({ dbPath: join(folder, 'colibri.db') })).rejects.toThrow(/another program|newer/);
      expect(contents(folder)).toMatchObject(before);
    });
  }
});

describe('a folder that cannot be made', () => {
  promiseTest(
    'store/fault-named',
    'below one that takes no children it is refused, and the search for a way ends',
    async () => {
      const file = join(tempFolder(), 'file');
      writeFileSync(file, '');
      // Below /proc a folder that exists answers like one that does not; elsewhere a file in the way does.
      for (const dbPath of [join(file, 'below', 'colibri.db'), '/proc/colibri/below/colibri.db'])
        await expect(open({ dbPath })).rejects.toThrow(/cannot be opened|may not be written/);
    },
  );
});

describe('a folder that is a file', () => {
  for (const key of ['dbPath', 'projectDbPath'] as const)
    promiseTest('store/untouched', `${key} is refused, and the file stays as it is`, async () => {
      const file = join(tempFolder(), '.colibri');
      writeFileSync(file, 'mine', { mode: 0o644 });
      await expect(open({ [key]: join(file, 'colibri.db') })).rejects.toThrow(/\.colibri is not a folder.*remove it/);
      expect([readFileSync(file, 'utf8'), mode(file)]).toEqual(['mine', 0o644]);
    });
});

describe('a ledger that goes away under a running server', () => {
  for (const [name, change] of [
    ['its folder is deleted', (path: string) => rmSync(dirname(path), { recursive: true })],
    ['the file is deleted', (path: string) => rmSync(path)],
    [
      'a file replaces its folder',
      (path: string) => {
        rmSync(dirname(path), { recursive: true });
        writeFileSync(dirname(path), '');
      },
    ],
    [
      'another file takes its place',
      (path: string) => {
        cpSync(path, `${path}.copy`);
        rmSync(path);
        cpSync(`${path}.copy`, path);
      },
    ],
  ] as const) {
    promiseTest('store/fault-named', name, async () => {
      const folder = join(tempFolder(), 'ledger');
      mkdirSync(folder);
      const database = await open({ dbPath: join(folder, 'colibri.db') });
      await openLedger(database, 'tester', AT);
      change(database.location);
      const refusal = { fault: 'unavailable', message: expect.stringMatching(/deleted or replaced.*restart/) };
      await expect(database.write({ durable: true }, async () => 1)).rejects.toMatchObject(refusal);
      await expect(database.read(async () => 1)).rejects.toMatchObject(refusal);
    });
  }
});

async function open(options: Partial<OpenOptions>): Promise<Database> {
  const database = await openDatabase({
    mode: 'FULL',
    dbPath: undefined,
    durability: 'full',
    readOnly: false,
    ...options,
  });
  onTestFinished(() => database.close());
  return database;
}

/** The files that `git add --all` would add. */
function listUntracked(root: string): string[] {
  const args = ['-C', root, 'ls-files', '--others', '--exclude-standard'];
  return execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
}

/** "Coli" is the mark of a ledger, whatever its version. */
function newer(version: number): string {
  return `PRAGMA application_id = 0x436f6c69; PRAGMA user_version = ${version}; CREATE TABLE later (x INTEGER)`;
}

function mode(path: string): number {
  return statSync(path).mode & 0o777;
}

function contents(folder: string): Record<string, Buffer> {
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file))]));
}
