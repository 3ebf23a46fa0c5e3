import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { reportOf } from '../support/cli-project.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { ledgerOf, withAgent } from '../support/commands/project-folder.ts';
import { tempFolder } from '../support/folders.ts';
import { PROGRAM, startProgram } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';
import { launcherWithoutRoot } from './without-root.ts';

const launcher = launcherWithoutRoot();

/** What the last server left beside the ledger. */
type Left = 'nothing' | 'log' | 'log and side file';

/** A ledger with a task, and its folder, with these modes. */
async function createUnwritable(fileMode: number, folderMode: number, left: Left): Promise<string> {
  const project = tempFolder();
  if (left !== 'nothing') {
    // Killed, so that the write-ahead log stays; then without the side file that only a writer can make.
    const client = await connectRaw({ cwd: project });
    await client.call('task_create', { title: 'Parse dates', status: 'todo' });
    client.program.child.kill('SIGKILL');
    await client.program.exit;
    if (left === 'log') rmSync(`${ledgerOf(project)}-shm`);
  } else await withAgent(project, 'claude', (agent) => agent('task_create', { title: 'Parse dates', status: 'todo' }));
  const folder = join(ledgerOf(project), '..');
  onTestFinished(() => chmodSync(folder, 0o700));
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), fileMode);
  chmodSync(folder, folderMode);
  return project;
}

function runAsUser(args: readonly string[], cwd: string) {
  const [command = '', ...rest] = [...(launcher ?? []), process.execPath, PROGRAM, ...args];
  const env = { PATH: process.env['PATH'] ?? '', HOME: tempFolder() };
  return spawnSync(command, rest, { cwd, env, encoding: 'utf8' });
}

describe('a ledger that this user may only read', () => {
  const cases =
    launcher === undefined
      ? []
      : ([
          ['a folder that may not be written', 0o600, 0o500, 'nothing'],
          ['a file that may not be written', 0o400, 0o700, 'nothing'],
          ['a read-only file in a read-only folder', 0o400, 0o500, 'nothing'],
          ['a read-only folder with a write-ahead log', 0o400, 0o500, 'log'],
          ['a read-only folder that a killed server left', 0o400, 0o500, 'log and side file'],
        ] as const);
  for (const [name, fileMode, folderMode, left] of cases)
    promiseTest('cli/unwritable', name, async () => {
      const project = await createUnwritable(fileMode, folderMode, left);
      const folder = join(ledgerOf(project), '..');
      const state = () => readdirSync(folder).map((file) => [file, statSync(join(folder, file)).mtimeMs]);
      const before = state();
      for (const [args, text] of [
        [['board'], 'Parse dates'],
        [['show', 'T-0001'], 'Parse dates'],
        [['verify'], 'whole'],
        [['agents', '--json'], left === 'nothing' ? '"claude"' : '"raw"'],
      ] as const) {
        const { status, stdout, stderr } = runAsUser(args, project);
        expect([args, status, stderr]).toEqual([args, 0, '']);
        expect(stdout).toContain(text);
      }
      if (left === 'nothing' && folderMode === 0o500)
        expect(runAsUser(['backup'], project)).toMatchObject({
          status: 2,
          stderr: `colibri backup: ${folder} is not writable; name a folder of yours: colibri backup FOLDER\n`,
        });
      const own = tempFolder();
      const backup = runAsUser(['backup', join(own, 'copy.db')], project);
      expect(backup).toMatchObject({ status: 0, stderr: '' });
      expect(readdirSync(own)).toEqual(['copy.db']);
      const { size, root, problems } = await reportOf(join(own, 'copy.db'));
      expect(problems).toEqual([]);
      expect(backup.stdout).toContain(`whole: ${size} entries, root ${root}`);
      const server = startProgram({
        cwd: project,
        launcher: launcher ?? [],
        env: { COLIBRI_MODE: 'READONLY', COLIBRI_LOG_LEVEL: 'error' },
      });
      server.child.stdin?.end(`${SESSION.map((message) => JSON.stringify(message)).join('\n')}\n`);
      expect(await server.exit).toEqual({ code: 0, signal: null });
      expect(server.outLines().join('\n')).toContain('"title":"Parse dates"');
      expect(state()).toEqual(before);
    });
});

const SESSION = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'reader', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'task_list', arguments: {} } },
];
