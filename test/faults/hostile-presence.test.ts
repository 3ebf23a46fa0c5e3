import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { isServed } from '../../src/db/sqlite/files/replace.ts';
import { closeInterruptedCalls } from '../../src/ledger/calls/interrupted.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { tempFolder } from '../support/folders.ts';
import {
  AT,
  enterEvent,
  ILL_FORMED_PROCESS_IDS,
  ledgerIn,
  openTestDatabase,
  openTestLedger,
  processIdOf,
  tamper,
} from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

describe('a process id in a ledger that someone else wrote', () => {
  promiseTest('store/process-ids', 'a starting server deletes no file outside the project', async () => {
    const outside = tempFolder();
    const cwd = join(outside, 'project');
    mkdirSync(cwd);
    const first = await connectRaw({ cwd });
    await first.data('server_health');
    await first.end();
    // The folder makes the way out of the ledger's folder exist.
    mkdirSync(join(cwd, '.colibri', 'colibri.db-x'));
    const victim = join(outside, 'victim.live');
    writeFileSync(victim, '');
    await tamper(ledgerIn(cwd), reopenCall('x/../../../victim'));

    const next = await connectRaw({ cwd });
    await next.data('server_health');
    await next.end();
    expect(readdirSync(outside).sort()).toEqual(['project', 'victim.live']);
  });

  for (const [name, id] of ILL_FORMED_PROCESS_IDS) {
    promiseTest('store/process-ids', `${name} counts as dead, its call is closed, and no file is touched`, async () => {
      const path = join(tempFolder(), '.colibri', 'colibri.db');
      mkdirSync(dirname(path));
      const database = await openTestLedger({ path });
      await new CallRecorder(database, id).enter(enterEvent('one'));
      const before = readdirSync(dirname(path));
      expect(await closeInterruptedCalls(database, 'next', AT)).toBe(1);
      expect(readdirSync(dirname(path))).toEqual(before);
    });
  }
});

describe('files beside a ledger that look like presence files', () => {
  const NAME = `colibri.db-${processIdOf('look-alike')}.live`;
  const LOOK_ALIKES: readonly (readonly [name: string, make: (folder: string, victim: string) => string])[] = [
    ['a symbolic link', (folder, victim) => make(folder, NAME, (path) => symlinkSync(victim, path))],
    ['a link to nowhere', (folder) => make(folder, NAME, (path) => symlinkSync('gone', path))],
    ['a hard link', (folder, victim) => make(folder, NAME, (path) => linkSync(victim, path))],
    ['a file with content', (folder) => make(folder, NAME, (path) => writeFileSync(path, 'notes'))],
    ['a folder', (folder) => make(folder, NAME, (path) => mkdirSync(path))],
    ['a name that is not a process id', (folder) => make(folder, 'colibri.db-notes.live', touch)],
    ['an id in upper case', (folder) => make(folder, `colibri.db-${processIdOf('x').toUpperCase()}.live`, touch)],
    ['the presence file of another ledger', (folder) => make(folder, NAME.replace('db-', 'db-old.db-'), touch)],
    ['another suffix', (folder) => make(folder, `${NAME}.bak`, touch)],
  ];
  for (const [name, create] of LOOK_ALIKES) {
    promiseTest('store/presence-files', `${name} is left unchanged by servers and restore`, async () => {
      const folder = tempFolder();
      const victim = join(tempFolder(), 'victim');
      writeFileSync(victim, '');
      const database = await openTestLedger({ path: join(folder, 'colibri.db') });
      const dead = join(folder, `colibri.db-${processIdOf('dead')}.live`);
      touch(dead);
      const file = create(folder, victim);
      await database.enlist(processIdOf('newcomer'));
      expect(await database.isAlive(processIdOf('look-alike'))).toBe(false);
      await database.close();
      expect(await isServed(join(folder, 'colibri.db'))).toBe(false);
      expect(readdirSync(folder)).toContain(file);
      expect(readFileSync(victim, 'utf8')).toBe('');
      expect(existsSync(dead)).toBe(false);
    });
  }

  promiseTest(
    'store/presence-files',
    'one of another user is left alone, and its process counts as alive',
    async () => {
      const folder = tempFolder();
      const database = await openTestLedger({ path: join(folder, 'colibri.db') });
      const file = join(folder, NAME);
      touch(file);
      const own = process.geteuid?.() ?? 0;
      const user = vi.spyOn(process, 'geteuid').mockReturnValue(own + 1);
      onTestFinished(() => user.mockRestore());
      await database.enlist(processIdOf('newcomer'));
      expect(await database.isAlive(processIdOf('look-alike'))).toBe(true);
      expect(existsSync(file)).toBe(true);
    },
  );
});

describe('one ledger that is reached by two paths', () => {
  for (const [name, reach] of [
    ['through a linked file', (folder: string) => [folder, 'linked.db']],
    ['through a linked folder', (folder: string) => [`${folder}-link`, 'colibri.db']],
  ] as const) {
    promiseTest('store/alive', `a process is alive to a server that came ${name}, and vice versa`, async () => {
      const folder = join(tempFolder(), 'real');
      mkdirSync(folder);
      symlinkSync(folder, `${folder}-link`);
      const direct = await openTestLedger({ path: join(folder, 'colibri.db') });
      symlinkSync('colibri.db', join(folder, 'linked.db'));
      const linked = await openTestDatabase({ path: join(...(reach(folder) as [string, string])) });
      await direct.enlist(processIdOf('direct'));
      await linked.enlist(processIdOf('linked'));
      expect(await linked.isAlive(processIdOf('direct'))).toBe(true);
      expect(await direct.isAlive(processIdOf('linked'))).toBe(true);
      expect(await isServed(join(`${folder}-link`, 'colibri.db'))).toBe(true);
      await linked.close();
      expect(await direct.isAlive(processIdOf('linked'))).toBe(false);
      expect(readdirSync(folder).filter((file) => file.endsWith('.live'))).toHaveLength(1);
    });
  }
});

/** Makes the first call look unfinished, and made by a process of this id. */
function reopenCall(processId: string): string {
  return `UPDATE ledger_entries SET entry = json_set(entry, '$.process_id', '${processId}') WHERE idx = 1;
    DELETE FROM call_exits WHERE sequence_no = 1; INSERT OR IGNORE INTO presence (sequence_no, actor) SELECT 1, entry ->> 'actor' FROM ledger_entries WHERE idx = 1`;
}

function make(folder: string, name: string, create: (path: string) => void): string {
  create(join(folder, name));
  return name;
}

function touch(path: string): void {
  writeFileSync(path, '', { mode: 0o600 });
}
