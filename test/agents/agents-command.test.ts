import { describe, expect, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/trust/open-database.ts';
import { type ClientProcess, withClientProcesses } from '../support/clients/client-processes.ts';
import { silence } from '../support/crew/crew.ts';
import { tempFolder } from '../support/folders.ts';
import { databaseAt, ledgerAt } from '../support/ledger-targets.ts';
import { cleanEnvironment, runColibri, startProgram } from '../support/program.ts';
import { promiseTest } from '../support/promise-test.ts';

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly alive: boolean;
  readonly processes: number;
  readonly last_call: { readonly tool: string };
  readonly silent_for_s: number;
  readonly holds: readonly { readonly task_id: string; readonly lapsed: boolean }[];
  readonly sessions: readonly string[];
}

async function runAgents(path: string, ...args: readonly string[]) {
  return runColibri(['agents', ...args], cleanEnvironment(await ledgerAt(path)), tempFolder());
}

async function listAgents(path: string): Promise<Listed[]> {
  const { status, stdout, stderr } = await runAgents(path, '--json');
  expect([status, stderr]).toEqual([0, '']);
  return (JSON.parse(stdout) as { agents: Listed[] }).agents;
}

async function work(agent: ClientProcess, title: string): Promise<void> {
  const { task_id } = await agent.createTask({ title, status: 'todo' });
  await agent.updateTask({ task_id, status: 'in_progress' });
  await agent.startSession({ task_id, auditor_id: 'auditor' });
}

describe('colibri agents', () => {
  promiseTest('agents/list', 'live ones and dead ones, the one that called last first', () =>
    withClientProcesses(async (launch, path) => {
      const first = await launch('claude-code');
      await work(first, 'the first task');
      const second = await launch('claude-code');
      await work(second, 'the second task');
      await first.call('task_list', {});
      await second.kill();
      const agents = await listAgents(path);
      expect(agents).toMatchObject([
        { name: 'claude-code', alive: true, processes: 1, last_call: { tool: 'task_list' }, sessions: ['A-0001'] },
        { name: 'claude-code#2', alive: false, processes: 0, last_call: { tool: 'audit_session_start' } },
      ]);
      expect(agents.every(({ silent_for_s }) => Number.isInteger(silent_for_s) && silent_for_s >= 0)).toBe(true);
      const { stdout, status } = await runAgents(path);
      expect(status).toBe(0);
      const [title, ...lines] = stdout.trimEnd().split('\n');
      expect(title).toBe('1 live agent of 2');
      expect(lines.filter((line) => !line.startsWith(' '))).toEqual([
        expect.stringMatching(/^alive {3}claude-code {4}\d+\S* ago: task_list {2}· open A-0001$/),
        expect.stringMatching(/^gone {4}claude-code#2 {2}\d+\S* ago: audit_session_start {2}· open A-0002$/),
      ]);
    }),
  );

  promiseTest('agents/list', 'silent ones, lapsed claims, and who lost a task to whom', () =>
    withClientProcesses(async (launch, path) => {
      const launchAs = (name: string) => launch('client', { env: { COLIBRI_AGENT_ID: name } });
      const [alive, bob, carol] = [await launchAs('alive'), await launchAs('bob'), await launchAs('carol')];
      const held = async (agent: ClientProcess, title: string) => {
        const { task_id } = await agent.createTask({ title, status: 'todo' });
        await agent.updateTask({ task_id, status: 'in_progress' });
        return task_id;
      };
      const [kept, lost, waiting] = [await held(alive, 'kept'), await held(bob, 'lost'), await held(carol, 'waiting')];
      await carol.updateTask({ task_id: waiting, status: 'blocked', blocked_reason: 'the vendor is silent' });
      const idle = await launchAs('idle');
      await idle.call('task_list', {});
      await bob.kill();
      const place = await databaseAt(path);
      const database = await openDatabase({ mode: 'FULL', ...place, durability: 'relaxed', readOnly: false });
      onTestFinished(() => database.close());
      for (const [name, minutes] of [['alive', 119] as const, ['bob', 11] as const, ['carol', 999] as const])
        await silence(database, name, minutes * 60_000);
      const states = async () =>
        (await listAgents(path)).map(({ name, state, holds }) => [
          name,
          state,
          ...holds.map(({ task_id, lapsed }) => `${task_id}${lapsed ? ' lapsed' : ''}`),
        ]);
      expect(await states()).toEqual([
        ['idle', 'alive'],
        ['carol', 'silent', waiting],
        ['bob', 'lapsed', `${lost} lapsed`],
        ['alive', 'silent', kept],
      ]);
      expect((await runAgents(path)).stdout).toContain(`        ${lost} in_progress, lapsed  lost\n`);
      await silence(database, 'alive', 60_000);
      expect((await states()).at(-1)).toEqual(['alive', 'lapsed', `${kept} lapsed`]);
      await idle.updateTask({ task_id: lost, status: 'in_progress' });
      await alive.call('task_list', {});
      expect(await listAgents(path)).toMatchObject([
        { name: 'alive', state: 'alive', holds: [{ task_id: kept, lapsed: false }], lost: [], taken_over: [] },
        { name: 'idle', state: 'alive', holds: [{ task_id: lost }], taken_over: [{ task_id: lost, from: 'bob' }] },
        { name: 'carol', state: 'silent', alive: true },
        { name: 'bob', state: 'gone', alive: false, holds: [], lost: [{ task_id: lost, to: 'idle' }] },
      ]);
      await idle.updateTask({ task_id: lost, status: 'cancelled' });
      const { stdout } = await runAgents(path);
      expect(stdout).toMatch(new RegExp(`^gone {4}bob .* · lost ${lost} to idle$`, 'm'));
      expect(stdout).toMatch(new RegExp(`^alive {3}idle .* · took over ${lost} from bob$`, 'm'));
    }),
  );

  promiseTest('agents/list', 'one agent with several processes once, and people apart', () =>
    withClientProcesses(async (launch, path) => {
      const env = { COLIBRI_AGENT_ID: 'backend' };
      const agents = [await launch('one', { env }), await launch('two', { env })];
      for (const agent of agents) await agent.call('task_list', {});
      const listed = { name: 'backend', alive: true, processes: 2 };
      expect(await listAgents(path)).toMatchObject([listed]);
      const person = ['add', 'a task', '--as', 'ada'];
      expect((await runColibri(person, cleanEnvironment(await ledgerAt(path)), tempFolder())).status).toBe(0);
      expect(JSON.parse((await runAgents(path, '--json')).stdout)).toMatchObject({
        agents: [listed],
        people: [{ name: 'person:ada', last_call: { tool: 'task_create' }, holds: [] }],
      });
      expect((await runAgents(path)).stdout).toMatch(
        /^1 live agent of 1\nalive {3}backend .*\n\nPeople\n {8}person:ada {2}\S+ ago: task_create\n$/,
      );
    }),
  );

  promiseTest('agents/list', '--watch reports every change until a signal, and no growing silence', () =>
    withClientProcesses(async (launch, path) => {
      const agent = await launch('cursor');
      await agent.createTask({ title: 'a task' });
      const watching = startProgram({
        cwd: tempFolder(),
        env: await ledgerAt(path),
        args: ['agents', '--watch', '--json'],
      });
      const seen = (tool: string) =>
        watching.whenFound('stdout', (lines) => lines.find((line) => line.includes(`"tool":"${tool}"`)));
      await seen('task_create');
      await agent.call('task_next_actions', {});
      await seen('task_next_actions');
      watching.child.kill('SIGINT');
      expect(await watching.exit).toEqual({ code: 0, signal: null });
      const states = watching.outLines().map((line) => line.replaceAll(/"silent_for_s":\d+/g, ''));
      expect(new Set(states).size).toBe(states.length);
    }),
  );
});

describe('server_health', () => {
  promiseTest('agents/list', 'names the number of live agents', () =>
    withClientProcesses(async (launch) => {
      const liveSeenBy = async (agent: ClientProcess) =>
        ((await agent.call('server_health', {})).data as { agents: { live: number } }).agents.live;
      const first = await launch('claude-code');
      expect(await liveSeenBy(first)).toBe(1);
      const second = await launch('cursor');
      await second.call('task_list', {});
      expect(await liveSeenBy(first)).toBe(2);
      await second.kill();
      expect(await liveSeenBy(first)).toBe(1);
    }),
  );
});
