import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { loadSqlite } from '../../src/db/sqlite/driver.ts';
import { listSpool } from '../../src/recorder/spool.ts';
import { withFile } from '../support/cli-project.ts';
import { promiseTest } from '../support/promise-test.ts';
import { post, RecordedProject, SILENT } from './recorded-project.ts';

describe('an event that waits', () => {
  promiseTest(
    'recorder/waiting-events',
    'readers leave it where it is, and a command of a person adds it',
    async () => {
      const project = new RecordedProject();
      expect((await project.run('add', 'One', '--status', 'todo')).status).toBe(0);
      expect(await project.hook(post())).toEqual(SILENT);
      const [name = ''] = listSpool(project.spool);
      // As if it had been waiting since 2001.
      renameSync(join(project.spool, name), join(project.spool, `1000000000000${name.slice(13)}`));
      for (const mode of ['READONLY', 'TEST', 'MINIMAL']) {
        const agent = await project.openAgent('reader', { COLIBRI_MODE: mode });
        await agent.callTool({ name: mode === 'MINIMAL' ? 'server_ping' : 'task_list', arguments: {} });
        await agent.close();
        expect(listSpool(project.spool), mode).toHaveLength(1);
      }
      for (const command of ['board', 'next', 'log']) {
        const { status, stderr } = await project.run(command);
        expect({ status, stderr }).toEqual({
          status: 0,
          stderr: expect.stringMatching(/^1 reported event not in the ledger yet; .*\n$/) as string,
        });
      }
      expect(listSpool(project.spool)).toHaveLength(1);
      expect((await project.run('start', 'T-0001')).status).toBe(0);
      expect(listSpool(project.spool)).toEqual([]);
      expect(await project.run('next')).toMatchObject({ status: 0, stderr: '' });
      expect((await project.run('verify')).status).toBe(0);
    },
  );
});

const stop = (changes: object = {}) => post({ hook_event_name: 'Stop', tool_use_id: 'stop', ...changes });

/** Ends the process after the commit, before the files of the events are removed. */
const KILL_AFTER_COMMIT = `
const fs = require('node:fs');
const original = fs.rmSync;
fs.rmSync = (path, ...rest) => {
  if (String(path).endsWith('.json')) process.kill(process.pid, 'SIGKILL');
  return original(path, ...rest);
};
`;

async function countObserved(project: RecordedProject): Promise<number> {
  const rows = await withFile(project.ledger, (reader) => reader.query('SELECT idx FROM observations'));
  return rows.length;
}

describe('the hook of a stop', () => {
  promiseTest(
    'recorder/waiting-events',
    'adds the events if no server runs, and only to a ledger that is there',
    async () => {
      const project = new RecordedProject();
      expect(await project.hook(stop())).toEqual(SILENT);
      expect(listSpool(project.spool)).toHaveLength(1);
      expect(existsSync(project.ledger)).toBe(false);
      await project.run('add', 'One');
      expect(await countObserved(project)).toBe(1);
      await project.hook(post({ tool_use_id: 'c-2' }));
      for (const env of [{ COLIBRI_MODE: 'READONLY' }, { COLIBRI_DATABASE_URL: 'postgres://nowhere/x' }]) {
        expect(await project.hook(stop({ tool_use_id: JSON.stringify(env) }), { env })).toEqual(SILENT);
        expect(await countObserved(project)).toBe(1);
      }
      expect(await project.hook(stop({ hook_event_name: 'SessionEnd', tool_use_id: 'end' }))).toEqual(SILENT);
      expect(listSpool(project.spool)).toEqual([]);
      expect(await countObserved(project)).toBe(5);
      expect((await project.run('verify')).status).toBe(0);
    },
  );

  promiseTest(
    'recorder/waiting-events',
    'leaves the events to a server that runs, which records them once',
    async () => {
      const project = new RecordedProject();
      const agent = await project.openAgent('agent');
      await agent.callTool({ name: 'task_list', arguments: {} });
      await Promise.all([project.hook(stop()), project.hook(stop()), project.hook(post())]);
      await agent.callTool({ name: 'task_list', arguments: {} });
      expect(await countObserved(project)).toBe(2);
      await agent.close();
      expect(listSpool(project.spool)).toEqual([]);
      expect((await project.run('verify')).status).toBe(0);
    },
  );

  promiseTest(
    'recorder/waiting-events',
    'a locked ledger and kill -9 after the commit lose and double nothing',
    async () => {
      const project = new RecordedProject();
      await project.run('add', 'One');
      const driver = (await loadSqlite()).open(project.ledger, { readOnly: false });
      driver.exec('BEGIN IMMEDIATE');
      expect(await project.hook(stop({ tool_use_id: 'locked' }))).toEqual(SILENT);
      driver.exec('ROLLBACK');
      driver.close();
      expect(await countObserved(project)).toBe(0);
      writeFileSync(project.path('kill.cjs'), KILL_AFTER_COMMIT);
      const env = { NODE_OPTIONS: `--require ${JSON.stringify(project.path('kill.cjs'))}` };
      expect((await project.hook(stop({ tool_use_id: 'killed' }), { env })).status).toBeNull();
      expect([listSpool(project.spool).length, await countObserved(project)]).toEqual([2, 2]);
      expect(await project.hook(stop({ tool_use_id: 'last' }))).toEqual(SILENT);
      expect([listSpool(project.spool).length, await countObserved(project)]).toEqual([0, 3]);
      expect((await project.run('verify')).status).toBe(0);
    },
  );
});
