import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { listSpool } from '../../src/recorder/spool.ts';
import { promiseTest } from '../support/promise-test.ts';
import { post, RecordedProject, SILENT } from './recorded-project.ts';

describe('an event that waits', () => {
  promiseTest('recorder/everybody', 'readers leave it where it is, and a command of a person adds it', async () => {
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
  });
});
