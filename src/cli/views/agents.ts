import type { ClaimedTask } from '../../domains/tasks/claims/agent-tasks.ts';
import type { OpenSession } from '../../domains/trail/open-sessions.ts';
import type { SeenAgent } from '../../ledger/presence/list-agents.ts';
import { formatDuration } from '../../text/duration.ts';
import { listNames, plural, type Terminal } from './terminal.ts';
import { cut, printable } from './text-width.ts';

/** One agent, as `colibri agents --json` prints it. */
export interface AgentView {
  readonly name: string;
  readonly alive: boolean;
  readonly processes: number;
  readonly last_call: { readonly sequence_no: number; readonly tool: string; readonly at: string };
  readonly silent_for_s: number;
  readonly holds: readonly HeldTask[];
  /** Sessions that it opened and that are not sealed yet. */
  readonly sessions: readonly string[];
  /** Tasks that another agent took over from it. */
  readonly lost: readonly { readonly task_id: string; readonly to: string | null }[];
  readonly taken_over: readonly { readonly task_id: string; readonly from: string }[];
}

type HeldTask = Pick<ClaimedTask, 'task_id' | 'title' | 'status'>;

export function viewAgent(
  agent: SeenAgent,
  tasks: readonly ClaimedTask[],
  sessions: readonly OpenSession[],
): AgentView {
  const { name, processes, lastCall, silentMs } = agent;
  return {
    name,
    alive: processes > 0,
    processes,
    last_call: lastCall,
    silent_for_s: Math.floor(silentMs / 1000),
    holds: tasks
      .filter(({ holder }) => holder === name)
      .map(({ task_id, title, status }) => ({ task_id, title, status })),
    sessions: sessions.filter(({ started_by }) => started_by === name).map(({ session_id }) => session_id),
    lost: tasks
      .filter(({ taken_from, holder }) => taken_from === name && holder !== name)
      .map(({ task_id, holder }) => ({ task_id, to: holder })),
    taken_over: tasks.flatMap(({ task_id, holder, taken_from }) =>
      holder === name && taken_from !== null ? [{ task_id, from: taken_from }] : [],
    ),
  };
}

/** One line per agent and one per task that it holds. */
export function renderAgents(
  agents: readonly AgentView[],
  { width = Number.POSITIVE_INFINITY, colors }: Terminal,
): string[] {
  if (agents.length === 0) return ['No agent has called a tool yet. Run colibri init to connect one.'];
  const live = agents.filter(({ alive }) => alive).length;
  const room = Math.max(0, ...agents.map(({ name }) => printable(name).length));
  const lines = agents.flatMap((agent) => {
    const paint = agent.alive ? colors.green : colors.gray;
    const state = agent.alive ? 'alive' : 'gone ';
    const call = `${formatDuration(agent.silent_for_s * 1000)} ago: ${printable(agent.last_call.tool)}`;
    return [
      paint(cut(`${state}  ${printable(agent.name).padEnd(room)}  ${call}${notesOf(agent)}`, width)),
      ...agent.holds.map((task) => heldLine(task, width)),
    ];
  });
  return [colors.bold(cut(`${plural(live, 'live agent')} of ${agents.length.toLocaleString('en')}`, width)), ...lines];
}

function heldLine({ task_id, title, status }: HeldTask, width: number): string {
  return cut(`       ${task_id} ${printable(status)}  ${printable(title)}`, width);
}

function notesOf({ sessions, lost, taken_over }: AgentView): string {
  const notes = [
    sessions.length === 0 ? '' : `open ${listNames(sessions)}`,
    lost.length === 0 ? '' : `lost ${listNames(lost.map(({ task_id, to }) => (to ? `${task_id} to ${to}` : task_id)))}`,
    taken_over.length === 0
      ? ''
      : `took over ${listNames(taken_over.map(({ task_id, from }) => `${task_id} from ${from}`))}`,
  ];
  return notes
    .filter((note) => note !== '')
    .map((note) => `  · ${note}`)
    .join('');
}
