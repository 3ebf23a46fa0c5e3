import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { openSqlite } from '../../src/db/sqlite/database.ts';
import { CliProject, createTemplate, reportOf } from '../support/cli-project.ts';
import { tamper } from '../support/ledger.ts';
import { call } from '../support/memory-server.ts';
import { promiseTest } from '../support/promise-test.ts';

let template: CliProject;
let place: CliProject;

beforeAll(async () => {
  template = await createTemplate();
});
afterAll(() => template.remove());
beforeEach(() => {
  place = new CliProject({ like: template });
});

describe('a ledger in use', () => {
  for (const mode of ['FULL', 'READONLY']) {
    promiseTest('backup/in-use', `a server in mode ${mode} has it open, with and without --force`, async () => {
      const agent = await place.openAgent('alice', { COLIBRI_MODE: mode });
      await call(agent, 'task_list');
      const { size } = await reportOf(place.ledger);
      for (const force of [[], ['--force']]) {
        const refused = await place.json('restore', 'backup.db', ...force);
        expect(refused).toMatchObject({ status: 1, answer: { verdict: 'refused', reason: 'in use' } });
      }
      expect((await call(agent, 'task_list')).isError).toBe(false);
      await agent.close();
      const after = await reportOf(place.ledger);
      expect(after.size).toBeGreaterThanOrEqual(size);
      expect(after.problems).toEqual([]);
      expect(readdirSync(dirname(place.ledger)).filter((name) => /replaced|partial/.test(name))).toEqual([]);
    });
  }

  promiseTest('backup/in-use', 'the file was deleted while a server had it open', async () => {
    const agent = await place.openAgent('alice');
    await call(agent, 'task_list');
    unlinkSync(place.ledger);
    const refused = await place.json('restore', 'backup.db');
    expect(refused).toMatchObject({ status: 1, answer: { reason: 'in use' } });
    await agent.close();
    expect((await place.run('restore', 'backup.db')).status).toBe(0);
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });

  promiseTest('backup/in-use', 'it can be replaced after the server was killed', async () => {
    const child = place.spawn(['serve']);
    child.stdin?.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'task_list' } })}\n`,
    );
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    expect(readdirSync(dirname(place.ledger)).some((name) => name.endsWith('.live'))).toBe(true);
    const { status } = await place.run('restore', 'backup.db', '--force');
    expect(status).toBe(0);
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });
});

describe('a backup that restore refuses', () => {
  const edits: Record<string, string> = {
    'an entry was edited': "UPDATE ledger_entries SET entry = replace(entry, 'alice', 'mallo') WHERE idx = 1",
    'a task was edited': "UPDATE tasks SET title = 'forged'",
    'a task was added': "INSERT INTO counters VALUES ('project/forged', 1)",
  };
  for (const [what, sql] of Object.entries(edits)) {
    promiseTest('backup/verified-first', what, async () => {
      await tamper(place.path('backup.db'), sql);
      const before = readFileSync(place.ledger);
      const refused = await place.json('restore', 'backup.db', '--force');
      expect(refused).toMatchObject({ status: 1, answer: { verdict: 'refused', reason: 'tampered backup' } });
      expect(readFileSync(place.ledger).equals(before)).toBe(true);
      expect(readdirSync(dirname(place.ledger)).filter((name) => /replaced|partial/.test(name))).toEqual([]);
    });
  }

  const defects: Record<string, { status: number; says: string; make: (path: string) => Promise<void> | void }> = {
    'the file does not exist': { status: 3, says: 'no file ', make: (path) => rmSync(path) },
    'the file is a folder': {
      status: 3,
      says: 'no file ',
      make: (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    },
    'it is empty': { status: 2, says: 'is empty; use another backup', make: (path) => truncateSync(path) },
    'it is text': { status: 2, says: 'is not a ledger', make: (path) => writeFileSync(path, 'text '.repeat(1000)) },
    'it is cut': { status: 2, says: 'damaged', make: (path) => truncateSync(path, 8192) },
    'the end of its log is missing': {
      status: 1,
      says: 'is missing',
      make: (path) => tamper(path, 'UPDATE ledger_head SET size = size + 1'),
    },
    'an entry in the middle is missing': {
      status: 1,
      says: 'entry 3: is missing',
      make: (path) => tamper(path, 'DELETE FROM ledger_entries WHERE idx = 3'),
    },
    'it is a database of another program': {
      status: 2,
      says: 'another program',
      make: (path) => tamper(path, 'PRAGMA application_id = 7'),
    },
    'it was written by a newer version': {
      status: 2,
      says: 'newer Colibri',
      make: (path) => tamper(path, 'PRAGMA user_version = 99'),
    },
  };
  for (const [what, { status, says, make }] of Object.entries(defects)) {
    promiseTest('backup/verified-first', what, async () => {
      await make(place.path('backup.db'));
      const before = readFileSync(place.ledger);
      const { status: code, stdout, stderr } = await place.run('restore', 'backup.db', '--force');
      expect({ code, stdout }).toEqual({ code: status, stdout: '' });
      expect(stderr).toContain(says);
      expect(readFileSync(place.ledger).equals(before)).toBe(true);
      expect(readdirSync(dirname(place.ledger)).filter((name) => /replaced|partial/.test(name))).toEqual([]);
    });
  }

  promiseTest('backup/verified-first', 'the backup is the ledger itself', async () => {
    const { status, stderr } = await place.run('restore', '.colibri/colibri.db', '--force');
    expect({ status, says: stderr.includes('is the ledger itself') }).toEqual({ status: 3, says: true });
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });

  promiseTest('backup/verified-first', 'no backup is named', async () => {
    expect((await place.run('restore')).status).toBe(3);
    const env = { COLIBRI_DURABILITY: 'some' };
    expect((await place.runWith({ env }, 'restore', 'backup.db')).status).toBe(3);
  });

  promiseTest('backup/restored', 'over an empty database that a server had just created', async () => {
    rmSync(dirname(place.ledger), { recursive: true });
    mkdirSync(dirname(place.ledger), { mode: 0o700 });
    const options = { path: place.ledger, readOnly: false, durability: 'full', busyTimeoutMs: 0 } as const;
    await (await openSqlite(options)).close();
    expect((await place.run('restore', 'backup.db')).status).toBe(0);
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });
});
