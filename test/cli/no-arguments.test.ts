import { spawnSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { makeProject } from '../init/init-project.ts';
import { colibri, createProject, ledgerOf, tamper, withAgent } from '../support/commands/project-folder.ts';
import { promiseTest } from '../support/promise-test.ts';

/** Standard input says that it is a terminal; standard output is a pipe. */
function runOnTerminal(cwd: string, env: Record<string, string> = {}) {
  const pretend = 'Object.assign(process.stdin, { isTTY: true });';
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...preload, resolve('dist/colibri.cjs')], {
    cwd,
    encoding: 'utf8',
    input: '',
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env },
  });
  return { status, stdout, stderr };
}

describe('colibri without arguments, on a terminal', () => {
  promiseTest('cli/no-arguments', 'prints the help where there is no ledger, and creates none', () => {
    const project = makeProject();
    const before = project.snapshot();
    const { status, stdout, stderr } = runOnTerminal(project.root);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('Usage: colibri [options] [command]');
    expect(stdout).toContain('colibri init');
    expect(project.snapshot()).toEqual(before);
  });

  promiseTest('cli/no-arguments', 'prints the help where the named ledger does not exist', () => {
    const project = makeProject();
    const { status, stdout } = runOnTerminal(project.root, { COLIBRI_DB_PATH: 'none.db' });
    expect({ status, isHelp: stdout.startsWith('Usage:') }).toEqual({ status: 0, isHelp: true });
  });

  promiseTest('cli/no-arguments', 'shows the board where there is a ledger', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', (call) => call('task_create', { title: 'Rotate the key', status: 'todo' }));
    // The board shows ages; that of a task from the future stays zero, however long the two commands take.
    await tamper(folder, "UPDATE tasks SET updated_at = '2100-01-01T00:00:00.000Z'");
    const { status, stdout, stderr } = runOnTerminal(folder);
    expect({ status, stdout, stderr }).toEqual(colibri(folder, ['board']));
    expect(stdout).toContain('Rotate the key');
  });

  promiseTest('cli/no-arguments', 'names the backup where the ledger was deleted', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', (call) => call('task_create', { title: 'Rotate the key', status: 'todo' }));
    renameSync(ledgerOf(folder), join(folder, '.colibri', 'monday.db'));
    const { status, stdout, stderr } = runOnTerminal(folder);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('colibri restore .colibri/monday.db');
  });

  promiseTest('cli/no-arguments', 'names an invalid variable', () => {
    const { status, stderr } = runOnTerminal(createProject(), { COLIBRI_PROJECT: 'My Shop' });
    expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining('COLIBRI_PROJECT') as string });
  });
});

describe('colibri without arguments, without a terminal', () => {
  promiseTest('cli/no-arguments', 'serves the protocol', () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { status, stdout } = spawnSync(process.execPath, [resolve('dist/colibri.cjs')], {
      cwd: createProject(),
      encoding: 'utf8',
      input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
    });
    expect({ status, id: (JSON.parse(stdout) as { id: number }).id }).toEqual({ status: 0, id: 1 });
  });
});
