import { describe, expect } from 'vitest';
import { type Crew, withCrew } from '../support/crew/crew.ts';
import { tempFolder } from '../support/folders.ts';
import { ledgerAt } from '../support/ledger-targets.ts';
import { cleanEnvironment, runColibri, startProgram } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

interface LogLine {
  readonly sequence_no: number;
  readonly actor: string;
  readonly task_id: string | null;
  readonly tool: string;
  readonly entered_at: string;
}

async function runLog(path: string, ...args: string[]) {
  return runColibri(['log', ...args], cleanEnvironment({ ...(await ledgerAt(path)), TZ: 'Asia/Tokyo' }), tempFolder());
}

async function callsOf(path: string, ...args: string[]): Promise<string[]> {
  const { stdout, stderr, status } = await runLog(path, '--json', ...args);
  expect([stderr, status]).toEqual(['', 0]);
  return describeLines(stdout.split('\n').slice(0, -1));
}

function describeLines(lines: readonly string[]): string[] {
  return lines
    .map((line) => JSON.parse(line) as LogLine)
    .map(({ actor, task_id, tool }) => `${actor} ${task_id ?? '-'} ${tool}`);
}

async function fill({ alice, bob }: Crew): Promise<void> {
  await alice.createTask({ title: 'One', status: 'todo' });
  await alice.createTask({ title: 'Two', status: 'todo', depends_on: ['T-0001'] });
  await bob.updateTask({ task_id: 'T-0001', status: 'in_progress' });
  await bob.startSession({ task_id: 'T-0001', auditor_id: 'T-0002' });
  await bob.recordThought({ task_id: 'T-0001', type: 'decision', content: '"T-0002" is next' });
  await bob.refusal('task_update', { id: 'T-0002', status: 'done' });
  await alice.finalize({ session_id: 'A-0001' });
  await alice.listTasks({});
}

const ALL = [
  'alice T-0001 task_create',
  'alice T-0002 task_create',
  'bob T-0001 task_update',
  'bob T-0001 audit_session_start',
  'bob T-0001 thought_record',
  'bob T-0002 task_update',
  'alice T-0001 merkle_finalize',
  'alice - task_list',
];

describe('colibri log', () => {
  promiseTest('cli/log-filters', 'by task, agent, tool and time', () =>
    withCrew(async (crew) => {
      await fill(crew);
      const { path } = crew.alice;
      expect(await callsOf(path)).toEqual(ALL);
      expect(await callsOf(path, '-n', '3')).toEqual(ALL.slice(-3));
      expect(await callsOf(path, '--task', '1')).toEqual(ALL.filter((call) => call.includes('T-0001')));
      expect(await callsOf(path, '--task', 't-2', '-n', '1')).toEqual([ALL[5]]);
      expect(await callsOf(path, '--agent', 'bob', '--tool', 'task_update')).toEqual([ALL[2], ALL[5]]);
      expect(await callsOf(path, '--since', '1h', '--agent', 'alice')).toEqual(
        ALL.filter((call) => call.startsWith('alice')),
      );
      expect(await callsOf(path, '--since', '2999-01-01')).toEqual([]);
      expect(await callsOf(path, '--agent', 'bob","tool":"task_list')).toEqual([]);
    }),
  );

  promiseTest('cli/log-filters', '--follow prints only new calls that match', () =>
    withCrew(async (crew) => {
      await fill(crew);
      const { path } = crew.alice;
      const following = startProgram({
        cwd: tempFolder(),
        env: await ledgerAt(path),
        args: ['log', '--json', '--follow', '--task', 'T-0001', '--agent', 'bob', '-n', '1'],
      });
      const seen = (count: number) =>
        following.whenFound('stdout', (lines) =>
          lines.filter((line) => !line.includes('"outcome":"running"')).length === count ? true : undefined,
        );
      await seen(1);
      await crew.bob.getTask({ task_id: 'T-0002' });
      await crew.alice.getTask({ task_id: 'T-0001' });
      await crew.bob.getTask({ task_id: 'T-0001' });
      await seen(2);
      following.child.kill('SIGINT');
      expect(await following.exit).toEqual({ code: 0, signal: null });
      expect(new Set(describeLines(following.outLines()))).toEqual(
        new Set(['bob T-0001 thought_record', 'bob T-0001 task_get']),
      );
    }),
  );

  promiseTest('cli/log-columns', 'prints local time, or UTC with --utc', () =>
    withCrew(async (crew) => {
      await fill(crew);
      const { path } = crew.alice;
      const [last] = (await runLog(path, '--json', '-n', '1')).stdout.split('\n');
      const { entered_at } = JSON.parse(last ?? '') as LogLine;
      const utc = entered_at.slice(0, 19).replace('T', ' ');
      const local = new Date(Date.parse(entered_at) + 9 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
      expect((await runLog(path, '-n', '1')).stdout).toContain(` ${local} alice          -      task_list `);
      expect((await runLog(path, '-n', '1', '--utc')).stdout).toContain(` ${utc}Z alice          -      task_list `);
    }),
  );

  promiseTest('cli/log-filters', 'says what is wrong with a filter, and when nothing matches', () =>
    withCrew(async (crew) => {
      await fill(crew);
      const { path } = crew.alice;
      expect(await runLog(path, '--agent', 'zoe')).toEqual({ status: 0, stdout: 'No call matches.\n', stderr: '' });
      const unknown = await runLog(path, '--task', '99');
      expect(unknown).toMatchObject({ status: 1, stdout: '' });
      expect(unknown.stderr).toContain('no task T-0099: the last one is T-0002');
      const wrong = await runLog(path, '--since', 'yesterday');
      expect(wrong).toMatchObject({ status: 64, stdout: '' });
      expect(wrong.stderr).toContain('a time such as 2026-04-08');
    }),
  );
});
