import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { StoredTree } from '../../src/ledger/stored-tree.ts';
import { addTask, CliProject, finished, inherited, reportOf, titlesIn, withFile } from '../support/cli-project.ts';
import { eventually } from '../support/ledger.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createLargeLedger } from '../support/sample-ledgers.ts';

let large: CliProject;

beforeAll(async () => {
  large = new CliProject({ isShared: true });
  await createLargeLedger(large.ledger, 3000);
});
afterAll(() => large.remove());

const openLargePlace = () => new CliProject({ like: large });
const partials = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.partial'));

/** Waits until the backup has started to write. */
async function begun(place: CliProject): Promise<void> {
  while (partials(place.folder).length === 0) await new Promise((resolve) => setImmediate(resolve));
}

describe('backup while servers write', () => {
  promiseTest('backup/under-fire', 'two servers, five backups', async () => {
    const place = new CliProject();
    await place.addTasks('before');
    const agents = await Promise.all(['alice', 'bob'].map((name) => place.openAgent(name)));
    const answered: string[] = [];
    const end = new AbortController();
    const writers = agents.map(async (agent, index) => {
      for (let count = 0; !end.signal.aborted; count += 1) {
        await addTask(agent, `task ${index}/${count}`);
        answered.push(`task ${index}/${count}`);
      }
    });
    const copies: { size: number; root: string; file: string; answeredBefore: string[] }[] = [];
    for (let count = 0; count < 5; count += 1) {
      const answeredBefore = [...answered];
      const { status, answer } = await place.json('backup', `${count}.db`);
      expect(status).toBe(0);
      copies.push({ ...(answer as { size: number; root: string; file: string }), answeredBefore });
      // A busy machine may run five backups between two calls.
      await eventually(async () => answered.length > answeredBefore.length);
    }
    end.abort();
    await Promise.all(writers);
    expect(new Set(copies.map(({ size }) => size)).size).toBe(copies.length);
    for (const { size, root, file, answeredBefore } of copies) {
      expect(await reportOf(file)).toEqual({ size, root, problems: [] });
      expect(await withFile(place.ledger, (reader) => new StoredTree(reader, size).root())).toBe(root);
      expect(await titlesIn(file)).toEqual(expect.arrayContaining(answeredBefore));
    }
    expect((await reportOf(place.ledger)).problems).toEqual([]);
    expect(await titlesIn(place.ledger)).toHaveLength(answered.length + 1);
  });
});

describe('an interrupted backup', () => {
  promiseTest('backup/atomic', 'kill -9 leaves no file of that name, and the next backup works', async () => {
    const place = openLargePlace();
    const child = place.spawn(['backup', 'x.db']);
    await begun(place);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect({ exists: existsSync(place.path('x.db')), partials: partials(place.folder).length }).toEqual({
      exists: false,
      partials: 1,
    });
    const { status, answer } = await place.json('backup', 'x.db');
    expect({ status, ...answer }).toMatchObject({ status: 0, verdict: 'whole', size: 6001 });
    expect((await reportOf(place.ledger)).problems).toEqual([]);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    promiseTest('backup/atomic', `${signal} leaves no file`, async () => {
      const place = openLargePlace();
      const child = place.spawn(['backup', 'x.db']);
      await begun(place);
      child.kill(signal);
      const [, by] = await once(child, 'exit');
      expect({ by, left: readdirSync(place.folder) }).toEqual({ by: signal, left: ['.colibri'] });
    });
  }

  promiseTest('backup/atomic', 'a full disk is reported and leaves no file', async () => {
    const place = openLargePlace();
    // A file size limit looks like a full disk to SQLite.
    const script = 'ulimit -f 1000; exec "$0" "$@"';
    const child = spawn('bash', ['-c', script, process.execPath, PROGRAM, 'backup', 'x.db', '--json'], {
      cwd: place.folder,
      env: inherited(),
    });
    const { status, stdout } = await finished(child);
    expect({ status, ...(JSON.parse(stdout) as object) }).toMatchObject({ status: 2, verdict: 'cannot tell' });
    expect(stdout).toContain('copying');
    expect(readdirSync(place.folder)).toEqual(['.colibri']);
    expect((await place.json('backup', 'x.db')).answer).toMatchObject({ size: 6001 });
  });
});
