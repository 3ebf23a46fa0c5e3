import { cutToTokens, estimateTokens } from './tokens.ts';

/** What an agent needs to know before its next call. */
export interface Brief {
  /** Undefined for a brief about every agent. */
  readonly agent: string | undefined;
  /** The agent has made no call, and another process of its client may get the name first. */
  readonly is_unconfirmed?: boolean;
  readonly project: string;
  /** The agent's last recorded call. */
  readonly last_call: { readonly entry: number; readonly at: string } | undefined;
  /** Tasks that the agent, if there is one, holds or has to finish, last changed first; the list may be cut. */
  readonly yours: readonly HeldTask[];
  readonly yours_total: number;
  /** The same of all agents, in a brief about every agent. */
  readonly in_work?: readonly HeldTask[];
  readonly in_work_total?: number;
  /** Tasks of dead agents of the same client: one of them was this one before its server was restarted. */
  readonly perhaps_yours: readonly Pick<HeldTask, 'task_id' | 'title' | 'status' | 'holder'>[];
  /** Tasks of others whose claim has lapsed: claiming one takes it over. The list may be cut. */
  readonly lapsed: readonly LapsedTask[];
  /** Tasks that the agent held and others took over. */
  readonly lost: readonly { readonly task_id: string; readonly title: string; readonly taken_by: string }[];
  /** What others changed since the last call, newest first; the list may be cut. */
  readonly changed: readonly ChangedTask[];
  /** The newest decisions, of the agent's tasks if they have any. */
  readonly decisions: readonly Decision[];
  /** If no task of the project is ready: the first other projects that have one. */
  readonly other_projects?: readonly string[];
  /** The task at the top of the queue. */
  readonly ready: (Pick<HeldTask, 'task_id' | 'title' | 'next_status'> & { readonly is_review: boolean }) | undefined;
}

export interface HeldTask {
  readonly task_id: string;
  readonly title: string;
  readonly status: string;
  /** The holder or, once a review ended the claim, the assignee. */
  readonly holder: string;
  /** Others may take it over, until the holder calls again. */
  readonly lapsed: boolean;
  /** The live session of the task. */
  readonly session_id: string | undefined;
  /** Whether a thought was recorded since the task was last opened. */
  readonly has_thought: boolean;
  /** The status that follows in its workflow. */
  readonly next_status: string;
}

export interface LapsedTask {
  readonly task_id: string;
  readonly title: string;
  /** Undefined if the task has neither a holder nor an assignee. */
  readonly held_by: string | undefined;
  /** Undefined if that agent never called. */
  readonly silent_for_s: number | undefined;
}

export interface ChangedTask {
  readonly task_id: string;
  readonly title: string;
  readonly status: string;
  readonly updated_by: string;
  readonly updated_at: string;
}

export interface Decision {
  readonly thought_id: string;
  readonly task_id: string;
  readonly recorded_by: string;
  readonly recorded_at: string;
  readonly content: string;
}

export const MAX_BRIEF_TOKENS = 500;
/** Kept for decisions when the lists are long. */
const DECISION_TOKENS = 150;
const TITLE_TOKENS = 20;
const NAME_TOKENS = 10;

/** The brief as text for a model, at most `MAX_BRIEF_TOKENS` long. What does not fit is named, not hidden. */
export function renderBrief(brief: Brief): string {
  const next = ['Next:', ...nextSteps(brief).map((step) => `- ${step}`)];
  const page = new Page(MAX_BRIEF_TOKENS - cost(next), brief.decisions.length === 0 ? 0 : DECISION_TOKENS);
  page.add(heading(brief));
  const { in_work = [], in_work_total = 0 } = brief;
  const held = [
    ['Yours:', brief.yours, brief.yours_total],
    ['In work:', in_work, in_work_total],
  ] as const;
  for (const [title, tasks, total] of held)
    page.addList(
      title,
      tasks.map((task) => heldLine(brief, task)),
      total > tasks.length,
      'call task_list for the rest',
    );
  page.addList(
    'Perhaps yours, if you held it before your server was restarted:',
    brief.perhaps_yours.map((task) => `${task.task_id} ${task.status} of ${name(task.holder)}: ${shorten(task.title)}`),
    false,
    'call task_list for the rest',
  );
  page.addList(
    'Lost, do not continue:',
    brief.lost.map(({ task_id, title, taken_by }) => `${task_id} taken by ${name(taken_by)}: ${shorten(title)}`),
    false,
    'call task_list for the rest',
  );
  page.addList(
    'Lapsed, can be taken over:',
    brief.lapsed.map((task) => `${task.task_id}${lapseOf(task)}: ${shorten(task.title)}`),
    false,
    'call task_next_actions for the rest',
  );
  page.addList(
    brief.last_call === undefined ? 'Last changes:' : 'Changed by others since your last call:',
    brief.changed.map(
      ({ task_id, title, status, updated_by }) => `${task_id} ${status}, by ${name(updated_by)}: ${shorten(title)}`,
    ),
    false,
    'call task_list for the rest',
  );
  page.release();
  for (const decision of brief.decisions) page.addQuote(decisionLine(decision), decision.content);
  return [...page.lines, ...next].join('\n');
}

type NextSource = Pick<Brief, 'agent' | 'yours' | 'perhaps_yours' | 'other_projects' | 'ready'>;

/** What to call next, the most useful first. */
export function nextSteps(brief: NextSource): string[] {
  const { agent, yours, perhaps_yours, other_projects = [], ready } = brief;
  const [task] = yours;
  if (task !== undefined && agent !== undefined) return stepsOf(task, name(agent));
  const [former] = perhaps_yours;
  const proof =
    former === undefined
      ? []
      : [
          `if you held ${former.task_id}: task_update {"task_id":"${former.task_id}","status":"${former.status}","claim":…} with the claim that you got for it`,
        ];
  if (ready === undefined) return [...proof, ...stepsWithoutWork(other_projects)];
  return [
    ...proof,
    `${ready.is_review ? 'review' : 'claim'} ${ready.task_id} (${shorten(ready.title)}): task_update {"task_id":"${ready.task_id}","status":"${ready.next_status}"}`,
    'or call task_next_actions for the whole queue',
  ];
}

function stepsWithoutWork(others: readonly string[]): string[] {
  const create = 'call task_create {"title":…,"status":"todo"}, or task_next_actions {"include_blocked":true}';
  const [first] = others;
  if (first === undefined) return [`nothing is ready: ${create}`];
  return [
    `nothing is ready here, but in ${others.join(', ')}: task_next_actions {"project":"${first}"}`,
    `or ${create}`,
  ];
}

function stepsOf(task: HeldTask, agent: string): string[] {
  const { task_id, status, session_id, has_thought, next_status } = task;
  const move = `task_update {"task_id":"${task_id}","status":"${next_status}"}`;
  if (status === 'blocked') return [`to unblock it: ${move}`, `task_get {"task_id":"${task_id}"} shows the reason`];
  const steps: string[] = [];
  if (session_id === undefined)
    steps.push(`audit_session_start {"task_id":"${task_id}","auditor_id":${JSON.stringify(agent)}}`);
  if (!has_thought)
    steps.push(`thought_record {"task_id":"${task_id}","type":"decision","content":…} before it is done`);
  return [...steps, `when ${status} is complete: ${move}`];
}

function heading({ agent, is_unconfirmed, project, last_call }: Brief): string {
  if (agent === undefined) return `Project ${project}.`;
  const last = last_call === undefined ? 'no recent call' : `last call ${last_call.at}, entry ${last_call.entry}`;
  const condition = is_unconfirmed
    ? ` Your first call confirms the name, unless another agent of your client calls first.`
    : '';
  return `You are ${name(agent)} in project ${project}; ${last}.${condition}`;
}

function heldLine({ agent }: Brief, { task_id, title, status, holder, lapsed, session_id }: HeldTask): string {
  const session = session_id === undefined ? '' : `, session ${session_id}`;
  const by = agent === undefined ? `, ${name(holder)}` : '';
  const lapse = !lapsed ? '' : agent === undefined ? ', lapsed' : ', lapsed until your next call';
  return `${task_id} ${status}${by}${session}${lapse}: ${shorten(title)}`;
}

function lapseOf({ held_by, silent_for_s }: LapsedTask): string {
  const silence = silent_for_s === undefined ? '' : `, silent for ${Math.floor(silent_for_s / 60)} min`;
  return held_by === undefined ? ', without a holder' : ` of ${name(held_by)}${silence}`;
}

function decisionLine({ thought_id, task_id, recorded_by }: Decision): string {
  return `Decision ${thought_id} on ${task_id} by ${name(recorded_by)}:`;
}

/** A line break in stored text must not begin a line of ours; only quoted decisions keep them. */
function shorten(title: string, limit = TITLE_TOKENS): string {
  return cutToTokens(title.replaceAll(/[\s\u0085]+/g, ' ').trim(), limit);
}

function name(actor: string): string {
  return shorten(actor, NAME_TOKENS);
}

function cost(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + estimateTokens(line) + 1, 0);
}

/** A shorter quotation says nothing. */
const MIN_QUOTE_LENGTH = 10;
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

/** Lines up to a number of tokens. */
class Page {
  readonly lines: string[] = [];
  #left: number;
  #reserved: number;

  constructor(tokens: number, reserved: number) {
    this.#left = tokens - reserved;
    this.#reserved = reserved;
  }

  /** Makes the reserved tokens available. */
  release(): void {
    this.#left += this.#reserved;
    this.#reserved = 0;
  }

  add(...lines: readonly string[]): boolean {
    if (cost(lines) > this.#left) return false;
    this.#left -= cost(lines);
    this.lines.push(...lines);
    return true;
  }

  /** A list that does not fit, or that is cut already, ends with how to get the rest. */
  addList(title: string, items: readonly string[], isCut: boolean, rest: string): void {
    if (items.length === 0) return;
    this.add(title);
    const fitting = items.filter((item) => this.add(`- ${item}`));
    if (isCut || fitting.length < items.length) this.add(`- ${rest}`);
  }

  /** Verbatim, every line marked as a quotation: text of another agent must not be read as instructions. */
  addQuote(title: string, text: string): void {
    const quoted = text.split(LINE_BREAK).map((line) => `> ${line}`);
    if (this.add(title, ...quoted)) return;
    const rest = '> (cut: call thought_record_list for all of it)';
    const cut = cutToTokens(quoted.join('\n'), this.#left - cost([title, rest, '']));
    if (cut.length > MIN_QUOTE_LENGTH) this.add(title, ...cut.split('\n'), rest);
  }
}
