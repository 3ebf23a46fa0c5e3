import { parseEntry } from '../../src/integrity/index.ts';
import { type ObservedServer, ran, withObserved } from '../evidence/observed-server.ts';
import { setOptions } from '../support/ledger-targets.ts';
import type { TestServer } from '../support/test-server.ts';

/** Who acted, the task of the event, and what the session and the sub-agent hold after it. */
export async function listEvents(server: TestServer): Promise<string[]> {
  const rows = await server.query<{ entry: string }>(
    'SELECT entry FROM observations JOIN ledger_entries ON ledger_entries.idx = observations.idx ORDER BY observations.idx',
  );
  return rows.map(({ entry: text }) => {
    const { agent, task_id, session_task, agent_task } = parseEntry(text) as unknown as Record<string, string>;
    return [agent ?? 'main', task_id ?? '-', session_task ?? '-', ...(agent_task ? [agent_task] : [])].join(' ');
  });
}

export async function createTasks(server: TestServer, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1)
    await server.createTask({ title: `Task ${number}`, status: 'todo' });
}

/** The fields by which Claude Code 2.1.325 names a sub-agent. */
export const by = (agent_id: string) => ({ agent_id, agent_type: 'general-purpose' });
export const stopped = (agent_id: string) => ({
  hook_event_name: 'SubagentStop',
  tool_use_id: undefined,
  ...by(agent_id),
});

interface Crew extends ObservedServer {
  /** Calls `task_update` and reports the call, by the main agent unless a sub-agent is named. */
  readonly update: (task_id: string, status: string | object, agent?: string) => Promise<void>;
  /** A command of the main agent or of a sub-agent. */
  readonly run: (command: string, agent?: string) => Promise<void>;
}

export function withCrew(work: (crew: Crew) => Promise<void>): Promise<void> {
  return withObserved(async (observed) => {
    const { server, report } = observed;
    await work({
      ...observed,
      update: async (task_id, change, agent) => {
        const input = { task_id, ...(typeof change === 'string' ? { status: change } : change) };
        const answer = await server.call('task_update', input);
        await report({
          ...(agent !== undefined && by(agent)),
          tool_name: 'mcp__colibri__task_update',
          tool_input: input,
          tool_response: JSON.stringify({ ok: answer.failure === undefined, ...answer }),
        });
      },
      run: (command, agent) => report({ ...ran(command), ...(agent !== undefined && by(agent)) }),
    });
  });
}

/** Creates three tasks that need a run of `npm test`; returns whether `done` is accepted. */
export async function requireRun(server: TestServer): Promise<(task_id: string) => Promise<boolean>> {
  await setOptions(server.path, 'default', { require_observed: ['npm test'] });
  await createTasks(server, 3);
  for (const task_id of ['T-0001', 'T-0002', 'T-0003']) {
    await server.startSession({ task_id, auditor_id: 'tester' });
    await server.recordThought({ task_id, type: 'decision', content: 'why' });
  }
  return async (task_id) => (await server.call('task_update', { task_id, status: 'done' })).failure === undefined;
}
