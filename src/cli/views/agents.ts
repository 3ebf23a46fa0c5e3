import type { ClaimedTask } from '../../domains/tasks/claims/agent-tasks.ts';
import { DEAD_PROCESS_TTL_MS, isLapsed } from '../../domains/tasks/claims/decide.ts';
import type { Loss } from '../../domains/tasks/claims/losses.ts';
import type { OpenSession } from '../../domains/trail/sessions.ts';
import type { SeenAgent } from '../../ledger/presence/list-agents.ts';
import { formatDuration } from '../../text/duration.ts';
import { listNames, plural, type Terminal } from './terminal.ts';
import { cut, cutWords, printable } from './text-width.ts';

/**
 * `lapsed`: a claim of the agent has lapsed, so that others may take the task. `gone`: none of its processes runs.
 * `silent`: one runs, and the agent has not called for as long as would lapse the claims of a dead process.
 */
export type AgentState = 'alive' | 'silent' | 'lapsed' | 'gone';

/** One agent, as `colibri agents --json` prints it. */
export interface AgentView {
  readonly name: string;
  readonly state: AgentState;
  /** One of its processes runs. */
  readonly alive: boolean;
  readonly processes: number;
  readonly last_call: { readonly sequence_no: number; readonly tool: string; readonly at: string };
  readonly silent_for_s: number;
  readonly holds: readonly HeldTask[];
  /** Sessions that it opened and that are not sealed yet. */
  readonly sessions: readonly string[];
  /** Tasks that another agent took over from it. */
  readonly lost: readonly { readonly task_id: string; readonly to: string }[];
  readonly taken_over: readonly { readonly task_id: string; readonly from: string }[];
}

/** A person has no server: a command ends right after its call, and claims of people never lapse. */
export type PersonView = Omit<AgentView, 'state' | 'alive' | 'processes'>;

interface HeldTask extends Pick<ClaimedTask, 'task_id' | 'title' | 'status'> {
  /** Others may take it over, until the holder calls again. */
  readonly lapsed: boolean;
}

export interface LedgerFacts {
  readonly tasks: readonly ClaimedTask[];
  readonly losses: readonly Loss[];
  readonly sessions: readonly OpenSession[];
  /** Undefined if silence alone lapses no claim. */
  readonly ttlMs: number | undefined;
}

export function viewAgent(agent: SeenAgent, { tasks, losses, sessions, ttlMs }: LedgerFacts): AgentView {
  const { name, processes, lastCall, silentMs } = agent;
  const sign = { silentMs, hasProcess: processes > 0 };
  const holds = tasks
    .filter(({ holder }) => holder === name)
    .map((task) => ({
      task_id: task.task_id,
      title: task.title,
      status: task.status,
      lapsed: isLapsed(task, sign, ttlMs),
    }));
  return {
    name,
    state: stateOf(agent, holds),
    alive: processes > 0,
    processes,
    last_call: lastCall,
    silent_for_s: Math.floor(silentMs / 1000),
    holds,
    sessions: sessions.filter(({ started_by }) => started_by === name).map(({ session_id }) => session_id),
    lost: losses.filter(({ actor }) => actor === name).map(({ task_id, taken_by }) => ({ task_id, to: taken_by })),
    taken_over: losses
      .filter(({ taken_by }) => taken_by === name)
      .map(({ task_id, actor }) => ({ task_id, from: actor })),
  };
}

export function viewPerson(person: SeenAgent, facts: LedgerFacts): PersonView {
  const { state: _state, alive: _alive, processes: _processes, ...view } = viewAgent(person, facts);
  return view;
}

const STATE_WIDTH = 'silent'.length;

function stateOf({ processes, silentMs }: SeenAgent, holds: readonly HeldTask[]): AgentState {
  if (holds.some(({ lapsed }) => lapsed)) return 'lapsed';
  if (processes === 0) return 'gone';
  return silentMs < DEAD_PROCESS_TTL_MS ? 'alive' : 'silent';
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
    const paint = { alive: colors.green, silent: colors.yellow, lapsed: colors.red, gone: colors.gray }[agent.state];
    return [
      paint(cut(`${agent.state.padEnd(STATE_WIDTH)}  ${printable(agent.name).padEnd(room)}  ${callOf(agent)}`, width)),
      ...agent.holds.map((task) => heldLine(task, width)),
    ];
  });
  return [colors.bold(cut(`${plural(live, 'live agent')} of ${agents.length.toLocaleString('en')}`, width)), ...lines];
}

/** The same for people; nothing if there are none. */
export function renderPeople(
  people: readonly PersonView[],
  { width = Number.POSITIVE_INFINITY, colors }: Terminal,
): string[] {
  if (people.length === 0) return [];
  const room = Math.max(0, ...people.map(({ name }) => printable(name).length));
  const lines = people.flatMap((person) => [
    cut(`${' '.repeat(STATE_WIDTH)}  ${printable(person.name).padEnd(room)}  ${callOf(person)}`, width),
    ...person.holds.map((task) => heldLine(task, width)),
  ]);
  return ['', colors.bold('People'), ...lines];
}

function callOf(agent: PersonView): string {
  return `${formatDuration(agent.silent_for_s * 1000)} ago: ${printable(agent.last_call.tool)}${notesOf(agent)}`;
}

function heldLine({ task_id, title, status, lapsed }: HeldTask, width: number): string {
  const state = lapsed ? `${printable(status)}, lapsed` : printable(status);
  return cutWords(`${' '.repeat(STATE_WIDTH)}  ${task_id} ${state}  ${printable(title)}`, width);
}

function notesOf({ sessions, lost, taken_over }: PersonView): string {
  const notes = [
    sessions.length === 0 ? '' : `open ${listNames(sessions)}`,
    lost.length === 0 ? '' : `lost ${listNames(lost.map(({ task_id, to }) => `${task_id} to ${to}`))}`,
    taken_over.length === 0
      ? ''
      : `took over ${listNames(taken_over.map(({ task_id, from }) => `${task_id} from ${from}`))}`,
  ];
  return notes
    .filter((note) => note !== '')
    .map((note) => `  · ${note}`)
    .join('');
}
