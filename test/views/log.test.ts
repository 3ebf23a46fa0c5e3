import { describe, expect } from 'vitest';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import {
  type Agent,
  colibri,
  createProject,
  expectWhole,
  ledgerOf,
  startColibri,
  withAgent,
} from '../support/commands/project-folder.ts';
import { processIdOf } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';

interface LogLine {
  readonly sequence_no: number;
  readonly tool: string;
  readonly actor: string;
  readonly outcome: string;
  readonly arguments: string;
}

const parse = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as LogLine);
const toolsOf = (lines: readonly string[]) => parse(lines).map(({ tool, outcome }) => `${tool} ${outcome}`);

async function createCalls(work: (agent: Agent) => Promise<void> = async () => undefined): Promise<string> {
  const folder = createProject();
  await withAgent(folder, 'claude', async (agent) => {
    await agent('task_create', { title: 'One', status: 'todo' });
    await agent('task_update', { task_id: 'T-0001', status: 'done' }).catch(() => undefined);
    await agent('task_list', {});
    await work(agent);
  });
  return folder;
}

describe('colibri log', () => {
  promiseTest('cli/people-log', 'prints the last calls, oldest first', async () => {
    const folder = await createCalls();
    const { stdout, stderr, status } = colibri(folder, ['log']);
    expect([stderr, status]).toEqual(['', 0]);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(
      /^ +#\d+ \S+ \S+ claude +T-0001 task_create +ok \d+ ms \{"status":"todo","title":"One"\}$/,
    );
    expect(lines[1]).toMatch(/task_update +ERR_INVALID_TRANSITION \d+ ms \{/);
    const last = colibri(folder, ['log', '-n', '2', '--json']).stdout.trimEnd().split('\n');
    expect(toolsOf(last)).toEqual(['task_update ERR_INVALID_TRANSITION', 'task_list ok']);
    expectWhole(folder);
  });

  promiseTest('cli/people-log', '--follow streams new calls until a signal', async () => {
    let following: ReturnType<typeof startColibri> | undefined;
    const folder = createProject();
    await withAgent(folder, 'claude', async (agent) => {
      await agent('task_create', { title: 'Before' });
      following = startColibri(folder, ['log', '-n', '1', '--follow', '--json']);
      await following.seen((lines) => lines.length === 1);
      for (let number = 0; number < 5; number += 1) await agent('task_create', { title: `New ${number}` });
      await following.seen((lines) => parse(lines).filter(({ outcome }) => outcome === 'ok').length === 6);
    });
    const lines = parse(following?.lines() ?? []).filter(({ outcome }) => outcome === 'ok');
    expect(lines.map((line) => (JSON.parse(line.arguments) as { title: string }).title)).toEqual([
      'Before',
      'New 0',
      'New 1',
      'New 2',
      'New 3',
      'New 4',
    ]);
    following?.child.kill('SIGINT');
    expect(await following?.ended).toEqual({ status: 0, stderr: '' });
    expectWhole(folder);
  });

  promiseTest('cli/people-log', '--follow prints a running call immediately, and again when it has ended', async () => {
    const folder = await createCalls();
    const database = await openDatabase({
      mode: 'FULL',
      dbPath: ledgerOf(folder),
      durability: 'relaxed',
      readOnly: false,
    });
    const log = new CallRecorder(database, processIdOf('a-process'));
    const call = { tool: 'task_get', correlationId: 'c', actor: 'slow', at: '2026-04-08T22:15:30.123Z' };
    const following = startColibri(folder, ['log', '-n', '1', '--follow', '--json']);
    await following.seen((lines) => lines.length === 1);
    await log.enter({ ...call, args: {}, timestamp: 0, argumentsText: '{}' });
    await following.seen((lines) => lines.length === 2);
    await log.exit({ ...call, durationMs: 12, outcome: 'ok', answerText: '' });
    await following.seen((lines) => lines.length === 3);
    await database.close();
    following.child.kill('SIGINT');
    await following.ended;
    expect(toolsOf(following.lines())).toEqual(['task_list ok', 'task_get running', 'task_get ok']);
    expect(new Set(parse(following.lines()).map(({ sequence_no }) => sequence_no)).size).toBe(2);
    expectWhole(folder);
  });

  promiseTest('cli/people-log', '--follow exits with 0 on a broken pipe', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', async (agent) => {
      await agent('task_create', { title: 'One' });
      const following = startColibri(folder, ['log', '--follow']);
      await following.seen((lines) => lines.length === 1);
      following.child.stdout.destroy();
      await agent('task_create', { title: 'Two' });
      expect(await following.ended).toEqual({ status: 0, stderr: '' });
    });
    expectWhole(folder);
  });

  promiseTest('cli/people-log', '--follow prints the first call of an empty ledger', async () => {
    const folder = createProject();
    await withAgent(folder, 'claude', async (agent) => {
      await agent('server_ping', {});
      const following = startColibri(folder, ['log', '--follow', '--json']);
      await agent('task_create', { title: 'One' });
      await following.seen((lines) => toolsOf(lines).includes('task_create ok'));
      following.child.kill('SIGTERM');
      expect(await following.ended).toEqual({ status: 0, stderr: '' });
    });
    expectWhole(folder);
  });
});
