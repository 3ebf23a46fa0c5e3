import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { ingest } from '../../src/recorder/ingest.ts';
import { gitEnvironment } from '../git/git-project.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer, type TestServer } from '../support/test-server.ts';
import { readObserved, shell, update, withSpool } from './spooled-server.ts';

describe('the spool', () => {
  promiseTest('recorder/ingest', 'events become entries, in their order, under the task that their session holds', () =>
    withSpool(async ({ server, spool, report }) => {
      await server.createTask({ title: 'One', status: 'todo' });
      report(shell('ls'));
      report(update('T-0001', 'in_progress'));
      report(shell('npm test'));
      report(update('T-0002', 'review'));
      report(update('T-0001', 'review'));
      report(shell('git push'));
      expect(await ingest(server.database, spool)).toEqual({ recorded: 6, rejected: 0 });
      expect((await readObserved(server)).map((observed) => observed.slice(0, 3))).toEqual([
        ['Bash', undefined, undefined],
        ['mcp__colibri__task_update', 'T-0001', 'T-0001'],
        ['Bash', 'T-0001', 'T-0001'],
        ['mcp__colibri__task_update', 'T-0001', 'T-0001'],
        ['mcp__colibri__task_update', 'T-0001', undefined],
        ['Bash', undefined, undefined],
      ]);
      expect((await readObserved(server))[2]?.[3]).toContain('"command":"npm test"');
      expect(readdirSync(spool)).toEqual([]);
    }),
  );

  promiseTest('recorder/ingest', 'a stop of a session whose name is white space, without a report', () =>
    withSpool(async ({ folder, server, spool, report }) => {
      report({ hook_event_name: 'Stop', session_id: ' ', transcript_path: join(folder, 'gone.jsonl') });
      expect(await ingest(server.database, spool)).toEqual({ recorded: 1, rejected: 0 });
      expect(await readObserved(server)).toHaveLength(1);
      expect(readdirSync(spool)).toEqual([]);
    }),
  );

  promiseTest('recorder/ingest', 'to change the task of another agent is not to work on it', () =>
    withSpool(async ({ folder, server, spool, report }) => {
      const other = await openServer(join(folder, 'colibri.db'), 'other');
      // A name that says nothing about the server.
      const tool_name = 'mcp__flight__task_update';
      const change = async (caller: TestServer, session_id: string, input: object) => {
        const answer = await caller.call('task_update', { ...input });
        report({ session_id, tool_name, tool_input: input, tool_response: JSON.stringify(answer) });
      };
      try {
        for (const title of ['One', 'Two']) await server.createTask({ title, status: 'todo' });
        await change(server, 's-1', { task_id: 'T-0001', status: 'in_progress' });
        await change(other, 's-2', { task_id: 'T-0002', status: 'in_progress' });
        await change(other, 's-2', { task_id: 'T-0001', title: 'A better title' });
        for (const session_id of ['s-1', 's-2']) report({ ...shell('npm test'), session_id });
        const lost = { task_id: 'T-0001', status: 'in_progress', holder: 'other', claim: 9, updated_by: 'agent' };
        report({ ...update('T-0001', 'in_progress'), tool_response: JSON.stringify({ ok: true, data: lost }) });
        report(shell('npm test'));
        report({ ...update('T-0002', 'in_progress'), tool_name, session_id: 's-3' });
        await change(other, 's-2', { task_id: 'T-0002', status: 'review' });
      } finally {
        await other.close();
      }
      await ingest(server.database, spool);
      expect((await readObserved(server)).map(([, taskId, held]) => `${taskId} ${held}`)).toEqual([
        'T-0001 T-0001',
        'T-0002 T-0002',
        'T-0002 T-0002',
        'T-0001 T-0001',
        'T-0002 T-0002',
        'T-0001 undefined',
        'undefined undefined',
        'undefined undefined',
        'T-0002 undefined',
      ]);
    }),
  );

  promiseTest('recorder/ingest', 'an event that is reported twice is recorded once', () =>
    withSpool(async ({ server, spool, report }) => {
      for (const tool_use_id of ['c', 'c', 'd']) report({ ...shell('ls'), tool_use_id });
      expect(await ingest(server.database, spool)).toEqual({ recorded: 2, rejected: 0 });
      report({ ...shell('ls'), tool_use_id: 'd' });
      expect(await ingest(server.database, spool)).toEqual({ recorded: 0, rejected: 0 });
      expect(await readObserved(server)).toHaveLength(2);
    }),
  );

  promiseTest('recorder/ingest', 'a stop that two hooks of a client report at different times is recorded once', () =>
    withSpool(async ({ server, spool, report }) => {
      const stop = (ms: number, fields: object = {}) => {
        const at = new Date(Date.UTC(2026, 3, 8) + ms);
        const timestamp = at.toISOString();
        report({ hook_event_name: 'Stop', tool_use_id: undefined, timestamp, ...fields }, at);
      };
      const count = async () => {
        await ingest(server.database, spool);
        return (await readObserved(server)).length;
      };
      stop(0);
      stop(7);
      expect(await count()).toBe(1);
      stop(1900);
      expect(await count()).toBe(1);
      stop(2000);
      stop(2001, { agent_id: 'sub' });
      stop(2002, { hook_event_name: 'SessionEnd' });
      expect(await count()).toBe(4);
      // Codex runs the hooks of the user beside those of the project.
      const codex = { session_id: 's-3', turn_id: 't', model: 'm', timestamp: undefined };
      stop(2500, codex);
      stop(2507, codex);
      expect(await count()).toBe(5);
      // Claude Code runs one of two equal commands, and no hooks of others: two stops are two.
      stop(3000, { session_id: 's-2', timestamp: undefined });
      stop(3001, { session_id: 's-2', timestamp: undefined });
      expect(await count()).toBe(7);
    }),
  );

  promiseTest('recorder/ingest', 'a name of white space is no name, and rejects no event', () =>
    withSpool(async ({ server, spool, report }) => {
      for (const blank of ['', ' ', '\u2028'])
        report({ ...shell('ls'), session_id: blank, agent_id: blank, model: blank, tool_name: blank });
      expect(await ingest(server.database, spool)).toEqual({ recorded: 3, rejected: 0 });
    }),
  );

  promiseTest('recorder/ingest', 'a claim of a task that there is not leaves the session without a task', () =>
    withSpool(async ({ server, spool, report }) => {
      report(update('T-9999', 'in_progress'));
      report(update('no id', 'in_progress'));
      report(shell('ls'));
      await ingest(server.database, spool);
      for (const [, taskId, held] of await readObserved(server)) expect([taskId, held]).toEqual([undefined, undefined]);
    }),
  );

  promiseTest('recorder/ingest', 'a refused claim fails, and one without an answer needs the task to agree', () =>
    withSpool(async ({ server, spool, report }) => {
      await server.createTask({ title: 'One', status: 'todo' });
      const claims = (tool_response: unknown, more: object = {}) =>
        report({ ...update('T-0001', 'in_progress'), tool_response, ...more });
      const refusals = [
        { ok: false, error: { code: 'ERR_CLAIM_HELD' } },
        { ok: true, data: { ok: false, error: { code: 'ERR_CLAIM_HELD' }, status: 'in_progress' } },
      ];
      for (const refusal of refusals) {
        claims(JSON.stringify(refusal));
        claims([{ type: 'text', text: JSON.stringify(refusal) }]);
        claims({ structuredContent: refusal });
      }
      claims({ isError: true, content: [{ type: 'text', text: 'no' }] });
      await ingest(server.database, spool);
      const outcomes = await server.query(`SELECT entry FROM ledger_entries WHERE entry LIKE '%"kind":"observed"%'`);
      expect(outcomes).toHaveLength(7);
      for (const { entry } of outcomes) expect(entry).toContain('"outcome":"failed"');
      claims(undefined);
      claims('done');
      await ingest(server.database, spool);
      const answer = await server.call('task_update', { task_id: 'T-0001', status: 'in_progress' });
      const { claim } = answer.data as { claim: number };
      claims(undefined, { tool_input: { task_id: 'T-0001', status: 'in_progress', claim: claim + 1 } });
      report({ ...update('T-0001', 'review'), tool_response: undefined });
      await ingest(server.database, spool);
      for (const [, taskId, held] of await readObserved(server)) expect([taskId, held]).toEqual([undefined, undefined]);
      claims(undefined, { tool_input: { task_id: 'T-0001', status: 'in_progress', claim } });
      report({ ...update('T-0001', 'review'), tool_response: 'refused' });
      await ingest(server.database, spool);
      for (const [, , held] of (await readObserved(server)).slice(-2)) expect(held).toBe('T-0001');
    }),
  );

  promiseTest('recorder/ingest', 'files that no hook could have written are kept aside, and the others recorded', () =>
    withSpool(async ({ server, spool, report }) => {
      report(shell('ls'));
      const [name = ''] = readdirSync(spool);
      const forged = (text: string, place: number) =>
        writeFileSync(join(spool, name.replace(/-[0-9a-f]{16}/, `-${String(place).padStart(16, '0')}`)), text, {
          mode: 0o600,
        });
      for (const [place, text] of ['', '{}', '[]', '{"v":1}', 'x'.repeat(1000)].entries()) forged(text, place);
      expect(await ingest(server.database, spool)).toEqual({ recorded: 1, rejected: 5 });
      expect(readdirSync(spool).every((file) => file.endsWith('.rejected'))).toBe(true);
      expect(await ingest(server.database, spool)).toEqual({ recorded: 0, rejected: 0 });
    }),
  );

  promiseTest('recorder/refusals', 'private files that git tracks are not recorded, nor any beside them', () =>
    withSpool(async ({ folder, server, spool, report }) => {
      const git = (...args: string[]) =>
        expect(spawnSync('git', args, { cwd: folder, env: gitEnvironment() }).status).toBe(0);
      git('init', '-q');
      report(shell('npm test'));
      git('add', '-f', '.colibri/spool');
      report(shell('ls'));
      await expect(ingest(server.database, spool)).rejects.toThrow(/spool has files that git tracks.*with a clone/);
      // A repository inside does not hide the one around it.
      git('init', '-q', '.colibri');
      await expect(ingest(server.database, spool)).rejects.toThrow('git tracks');
      git('rm', '-q', '-r', '--cached', '.colibri');
      writeFileSync(join(folder, '.colibri', '.git', 'index'), 'no index');
      await expect(ingest(server.database, spool)).rejects.toThrow('the index of the repository cannot be read');
      expect([await readObserved(server), readdirSync(spool).length]).toEqual([[], 2]);
      rmSync(join(folder, '.colibri', '.git'), { recursive: true });
      expect(await ingest(server.database, spool)).toEqual({ recorded: 2, rejected: 0 });
    }),
  );
});
