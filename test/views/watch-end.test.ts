import { renameSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { colibri, createProject, ledgerOf, startColibri, withAgent } from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

async function createLedger(): Promise<string> {
  const folder = createProject();
  await withAgent(folder, 'claude', (agent) => agent('task_create', { title: 'one', status: 'todo' }));
  return folder;
}

describe('a view that follows the ledger', () => {
  for (const args of [
    ['board', '--watch'],
    ['agents', '--watch', '--json'],
    ['log', '--follow'],
  ])
    promiseTest('cli/board-watch', `${args.join(' ')} ends with an error when the ledger is gone`, async () => {
      const folder = await createLedger();
      const view = startColibri(folder, args);
      await view.seen((lines) => lines.length > 0);
      renameSync(ledgerOf(folder), `${ledgerOf(folder)}.gone`);
      expect((await view.ended).status).toBe(2);
    });
});

describe('a ledger that was deleted', () => {
  promiseTest('cli/deleted-ledger', 'no command of a person begins a new one beside a backup', async () => {
    const folder = await createLedger();
    colibri(folder, ['backup']);
    renameSync(ledgerOf(folder), `${folder}/elsewhere`);
    for (const args of [
      ['add', 'two'],
      ['start', '1'],
      ['call', 'task_list', '{}'],
    ]) {
      const { status, stderr } = colibri(folder, args);
      expect({ status, stderr }, args.join(' ')).toEqual({
        status: 2,
        stderr: expect.stringContaining('colibri restore') as string,
      });
    }
  });
});
