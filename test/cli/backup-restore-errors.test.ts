import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/db/sqlite/database.ts';
import { loadSqlite } from '../../src/db/sqlite/driver.ts';
import { replaceSqlite } from '../../src/db/sqlite/files/replace.ts';
import { addTask, CliProject, finished, inherited, reportOf, titlesIn } from '../support/cli-project.ts';
import { PROGRAM } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createLargeLedger } from '../support/sample-ledgers.ts';

let large: CliProject;

beforeAll(async () => {
  large = new CliProject({ isShared: true });
  await createLargeLedger(large.path('new.db'), 2000);
});
afterAll(() => large.remove());

const partial = (place: CliProject) => readdirSync(dirname(place.ledger)).find((name) => name.endsWith('.partial'));

const reached: Record<string, (place: CliProject) => boolean> = {
  'while it copies the backup': (place) => partial(place) !== undefined,
  'while it verifies the copy': (place) => existsSync(join(dirname(place.ledger), `${partial(place)}-wal`)),
  'after it kept the old file': (place) => readdirSync(dirname(place.ledger)).some((name) => name.includes('replaced')),
};

describe('an interrupted restore', () => {
  for (const [moment, isReached] of Object.entries(reached)) {
    promiseTest('backup/restore-atomic', `kill -9 ${moment}`, async () => {
      const place = new CliProject();
      await place.addTasks('old');
      cpSync(large.path('new.db'), place.path('new.db'));
      const [old, fresh] = [await reportOf(place.ledger), await reportOf(place.path('new.db'))];
      const child = place.spawn(['restore', 'new.db', '--force']);
      const exited = once(child, 'exit');
      while (!isReached(place) && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
      child.kill('SIGKILL');
      await exited;
      expect([old, fresh]).toContainEqual(await reportOf(place.ledger));
      expect((await place.run('restore', 'new.db', '--force')).status).toBe(0);
      expect(await reportOf(place.ledger)).toEqual(fresh);
      await place.addTasks('afterwards');
      expect((await reportOf(place.ledger)).problems).toEqual([]);
    });
  }

  promiseTest('backup/restore-atomic', 'a full disk leaves the old ledger', async () => {
    const place = new CliProject();
    await place.addTasks('old');
    cpSync(large.path('new.db'), place.path('new.db'));
    const script = 'ulimit -f 1000; exec "$0" "$@"';
    const args = ['-c', script, process.execPath, PROGRAM, 'restore', 'new.db', '--force', '--json'];
    const { status, stdout } = await finished(spawn('bash', args, { cwd: place.folder, env: inherited() }));
    expect({ status, ...(JSON.parse(stdout) as object) }).toMatchObject({ status: 2, verdict: 'cannot tell' });
    expect(await titlesIn(place.ledger)).toEqual(['old']);
    expect((await reportOf(place.ledger)).problems).toEqual([]);
    expect(readdirSync(dirname(place.ledger)).filter((name) => /partial|replaced/.test(name))).toEqual([]);
  });
});

describe('restore while servers start and stop', () => {
  promiseTest(
    'backup/restore-atomic',
    'every answered change is in the ledger or in a kept one, all of them whole',
    async () => {
      const place = new CliProject();
      await place.addTasks('base');
      expect((await place.run('backup', 'base.db')).status).toBe(0);
      const answered: string[] = ['base'];
      const end = new AbortController();
      const visits = (async () => {
        for (let visit = 0; !end.signal.aborted; visit += 1) {
          const agent = await place.openAgent('alice');
          // A server that opens the ledger during the replacement reports that it has none, and has answered nothing.
          await addTask(agent, `visit ${visit}`).then(
            () => answered.push(`visit ${visit}`),
            () => undefined,
          );
          await agent.close();
        }
      })();
      const outcomes: (number | null)[] = [];
      while (outcomes.filter((status) => status === 0).length < 3 && outcomes.length < 40)
        outcomes.push((await place.run('restore', 'base.db', '--force')).status);
      end.abort();
      await visits;
      expect(outcomes.filter((status) => status !== 0 && status !== 1)).toEqual([]);
      const kept = readdirSync(dirname(place.ledger)).filter((name) => name.includes('replaced'));
      const files = [place.ledger, ...kept.map((name) => join(dirname(place.ledger), name))];
      const found: string[] = [];
      for (const file of files) {
        expect((await reportOf(file)).problems).toEqual([]);
        found.push(...(await titlesIn(file)));
      }
      expect(found).toEqual(expect.arrayContaining(answered));
    },
  );

  it('leaves an unwritable file to a process that opened it just before the replacement', async () => {
    const place = new CliProject();
    await place.addTasks('old');
    await createLargeLedger(place.path('staged.db'), 1);
    const { size } = await reportOf(place.ledger);
    const late = (await loadSqlite()).open(place.ledger, { readOnly: false });
    const replacement = { target: place.ledger, staged: place.path('staged.db'), kept: place.path('kept.db') };
    await expect(replaceSqlite({ ...replacement, size: size + 1 })).rejects.toThrow('was changed by another process');
    await replaceSqlite({ ...replacement, size });
    expect(late.prepare('PRAGMA user_version').all([])).toEqual([{ user_version: 2 ** 31 - 1 }]);
    late.close();
    const database = await openSqlite({ path: place.ledger, readOnly: false, durability: 'full', busyTimeoutMs: 0 });
    await database.close();
    expect(readdirSync(dirname(place.ledger)).filter((name) => /journal|wal/.test(name))).toEqual([]);
    expect((await reportOf(place.ledger)).size).toBe(3);
    expect(await titlesIn(place.path('kept.db'))).toEqual(['old']);
  });
});
