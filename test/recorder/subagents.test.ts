import { describe, expect } from 'vitest';
import { ingest } from '../../src/recorder/ingest.ts';
import { edited, ran } from '../evidence/observed-server.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer } from '../support/test-server.ts';
import { by, createTasks, listEvents, requireRun, stopped, withCrew } from './recorded-crew.ts';
import { RecordedProject, SILENT } from './recorded-project.ts';

describe('sub-agents of one session', () => {
  promiseTest(
    'recorder/sub-agents',
    'two at once through the hook of Claude Code, with their events in any order',
    async () => {
      const project = new RecordedProject();
      const server = await openServer(project.path('other.db'));
      await createTasks(server, 2);
      let count = 0;
      const send = async (agent: string | undefined, fields: object) => {
        count += 1;
        const payload = {
          session_id: '6e2ec340-1cad-4b31-b489-596367f02bd2',
          transcript_path: '/me/.claude/projects/p/6e2ec340-1cad-4b31-b489-596367f02bd2.jsonl',
          cwd: project.folder,
          permission_mode: 'default',
          ...(agent !== undefined && by(agent)),
          effort: { level: 'medium' },
          hook_event_name: 'PostToolUse',
          tool_use_id: `toolu_${count}`,
          duration_ms: 12,
          ...fields,
        };
        expect(await project.hook(JSON.stringify(payload))).toEqual(SILENT);
      };
      const claim = async (agent: string, task_id: string) => {
        const { data } = await server.call('task_update', { task_id, status: 'in_progress' });
        await send(agent, {
          tool_name: 'mcp__colibri__task_update',
          tool_input: { task_id, status: 'in_progress' },
          tool_response: JSON.stringify({ ok: true, data }),
          mcp_server: { name: 'colibri', source: 'project' },
        });
      };
      await claim('a88239cac8fe5dd87', 'T-0001');
      await claim('aa9f131abe8b7fde3', 'T-0002');
      await send('a88239cac8fe5dd87', ran('echo one'));
      await send('aa9f131abe8b7fde3', ran('echo two'));
      await send(undefined, ran('ls'));
      await send('a88239cac8fe5dd87', edited('one.ts'));
      expect(await ingest(server.database, project.spool)).toEqual({ recorded: 6, rejected: 0 });
      expect(await listEvents(server)).toEqual([
        'a88239cac8fe5dd87 T-0001 - T-0001',
        'aa9f131abe8b7fde3 T-0002 - T-0002',
        'a88239cac8fe5dd87 T-0001 - T-0001',
        'aa9f131abe8b7fde3 T-0002 - T-0002',
        'main - -',
        'a88239cac8fe5dd87 T-0001 - T-0001',
      ]);
      await server.close();
    },
  );

  promiseTest('recorder/sub-agents', 'those without a claim follow the main agent, the others their own', () =>
    withCrew(async ({ server, update, run }) => {
      await createTasks(server, 4);
      await update('T-0001', 'in_progress');
      await run('ls', 'helper');
      await update('T-0002', 'in_progress', 'coder');
      await run('ls', 'helper');
      await update('T-0003', 'in_progress');
      for (const agent of ['helper', 'coder']) await run('ls', agent);
      await update('T-0004', 'in_progress', 'coder');
      await update('T-0004', 'review', 'coder');
      for (const agent of ['coder', 'helper', undefined]) await run('ls', agent);
      // The task of the session is not a claim of the helper, and ends for both.
      await update('T-0003', { progress: 50 }, 'helper');
      await update('T-0003', 'review', 'helper');
      for (const agent of ['helper', undefined]) await run('ls', agent);
      expect(await listEvents(server)).toEqual([
        'main T-0001 T-0001',
        'helper T-0001 T-0001',
        'coder T-0002 T-0001 T-0002',
        'helper T-0001 T-0001',
        'main T-0001 T-0003',
        'helper T-0003 T-0003',
        'coder T-0002 T-0003 T-0002',
        'coder T-0002 T-0003 T-0004',
        'coder T-0004 T-0003 none',
        'coder - T-0003 none',
        'helper T-0003 T-0003',
        'main T-0003 T-0003',
        'helper T-0003 T-0003',
        'helper T-0003 -',
        'helper - -',
        'main - -',
      ]);
    }),
  );

  promiseTest('recorder/sub-agents', 'a call without an end belongs to the task of the one that began it', () =>
    withCrew(async ({ server, report, update }) => {
      await createTasks(server, 2);
      await update('T-0001', 'in_progress', 'a');
      await update('T-0002', 'in_progress', 'b');
      for (const agent of ['a', 'b']) await report({ ...ran('sleep 9'), hook_event_name: 'PreToolUse', ...by(agent) });
      await report(stopped('b'));
      await report({ hook_event_name: 'SessionEnd', tool_use_id: undefined });
      expect((await listEvents(server)).slice(2)).toEqual([
        'a T-0001 - T-0001',
        'b T-0002 - T-0002',
        'b T-0002 - T-0002',
        'b T-0002 T-0002 none',
        'a T-0001 T-0002 T-0001',
        'main T-0002 T-0002',
      ]);
    }),
  );

  promiseTest('recorder/sub-agents', 'hostile names and claims', () =>
    withCrew(async ({ server, report, update, run }) => {
      await createTasks(server, 2);
      await update('T-0002', 'in_progress');
      await update('T-0001', 'in_progress');
      // The first two name nothing; the third must not be taken for its session, nor the fourth for a sub-agent x.
      const names = ['', '\u2028', 's-1', 'x\ny', `${'n'.repeat(5000)}\n`];
      for (const name of names) await run('ls', name);
      await report({ ...ran('ls'), agent_id: { id: 7 } });
      for (const name of names.slice(2)) await update('T-0002', { progress: 20 }, name);
      // There is no such task, and the first call says so.
      await update('T-0099', 'in_progress', 'a');
      const answer = JSON.stringify({ ok: true, data: { task_id: 'T-0099', status: 'in_progress', claim: 1 } });
      await report({ ...by('a'), tool_name: 'mcp__colibri__task_update', tool_response: answer });
      await report({ ...ran('ls'), session_id: 's-1\ns-1' });
      await run('ls', 'x');
      await run('ls');
      const long = /^n{50,}~[0-9a-f]{16}/;
      expect((await listEvents(server)).map((event) => event.replace(long, 'long'))).toEqual([
        'main T-0002 T-0002',
        'main T-0002 T-0001',
        'main T-0001 T-0001',
        'main T-0001 T-0001',
        's-1 T-0001 T-0001',
        'x\ufffdy T-0001 T-0001',
        'long T-0001 T-0001',
        'main T-0001 T-0001',
        's-1 T-0002 T-0001 T-0002',
        'x\ufffdy T-0002 T-0001 T-0002',
        'long T-0002 T-0001 T-0002',
        'a T-0001 T-0001',
        'a T-0001 T-0001',
        'main - -',
        'x T-0001 T-0001',
        'main T-0001 T-0001',
      ]);
      expect(await server.query('SELECT 1 FROM observed_sessions')).toHaveLength(5);
    }),
  );

  promiseTest('recorder/sub-agents', 'a main agent without a task finishes what they have given up or left', () =>
    withCrew(async ({ server, report, update, run }) => {
      const isDone = await requireRun(server);
      for (const [agent, task_id] of [
        ['a', 'T-0001'],
        ['b', 'T-0002'],
        ['c', 'T-0003'],
      ] as const) {
        await update(task_id, 'in_progress', agent);
        await report({ ...edited(`${agent}.ts`), ...by(agent) });
      }
      await update('T-0001', 'review', 'a');
      await run('npm test');
      await update('T-0002', 'review', 'b');
      await report(stopped('b'));
      await run('ls');
      expect(await isDone('T-0002')).toBe(false);
      await run('npm test');
      for (const task_id of ['T-0001', 'T-0002']) expect(await isDone(task_id)).toBe(true);
      await report(stopped('c'));
      await run('npm test');
      await update('T-0003', 'review');
      expect(await isDone('T-0003')).toBe(true);
    }),
  );

  promiseTest('recorder/sub-agents', 'a required run counts for the task of the sub-agent that ran it', () =>
    withCrew(async (crew) => {
      const { server, report, update, run } = crew;
      const isDone = await requireRun(server);
      await update('T-0003', 'in_progress');
      await update('T-0001', 'in_progress', 'a');
      await update('T-0002', 'in_progress', 'b');
      await run('npm test', 'a');
      await report({ ...edited('b.ts'), ...by('b') });
      for (const [task_id, agent] of [
        ['T-0001', 'a'],
        ['T-0002', 'b'],
      ] as const)
        await update(task_id, 'review', agent);
      expect(await isDone('T-0002')).toBe(false);
      // The main agent works on another task, and so does the other sub-agent.
      await run('npm test');
      await run('npm test', 'a');
      expect(await isDone('T-0002')).toBe(false);
      expect(await isDone('T-0001')).toBe(true);
      await run('npm test', 'b');
      await report({ ...edited('a.ts'), ...by('a') });
      expect(await isDone('T-0002')).toBe(true);
      await update('T-0003', 'review');
      expect(await isDone('T-0003')).toBe(true);
    }),
  );
});
