import type { BlockedTask, NextAction } from '../../domains/tasks/next-actions.ts';
import { UNASSIGNED } from '../../domains/tasks/workflows.ts';
import { largestUnit } from '../../text/duration.ts';
import { priorityPaint, type Terminal } from './terminal.ts';
import { cut, cutWords, displayWidth, printable, wrap } from './text-width.ts';

/** What one project has to work on. */
export interface Queue {
  readonly project: string;
  readonly next_actions: readonly NextAction[];
  readonly blocked: readonly BlockedTask[];
  /** True if --limit cut the list. */
  readonly has_more: { readonly next_actions: boolean; readonly blocked: boolean };
}

export function renderQueues(queues: readonly Queue[], terminal: Terminal): string[] {
  return queues.flatMap((queue, index) => [...(index === 0 ? [] : ['']), ...renderQueue(queue, terminal)]);
}

function renderQueue(queue: Queue, terminal: Terminal): string[] {
  const { width = Number.POSITIVE_INFINITY, colors } = terminal;
  const { project, next_actions, blocked, has_more } = queue;
  const title = (text: string) => colors.bold(cut(`${printable(project)}: ${text}`, width));
  const note = (text: string) => wrap(text, width - 2).map((line) => `  ${colors.dim(line)}`);
  const more = note('and more: use --limit to show them');
  const lines = [title('ready')];
  for (const [index, action] of next_actions.entries()) lines.push(readyLine(action, index + 1, terminal));
  if (next_actions.length === 0) {
    lines.push(...note('nothing: every open task is claimed, waits for another, or is in the backlog'));
  }
  if (has_more.next_actions) lines.push(...more);
  if (blocked.length > 0) lines.push('', title('blocked'));
  for (const task of blocked) lines.push(...blockedLines(task, terminal));
  if (has_more.blocked) lines.push(...more);
  return lines;
}

function readyLine(action: NextAction, place: number, { width, colors }: Terminal): string {
  const { task_id, title, priority, assignee, estimate_hours, parent_id, lapsed } = action;
  const head = cut(
    `${String(place).padStart(3)}. ${task_id} ${printable(priority).padEnd(8)} `,
    width ?? Number.POSITIVE_INFINITY,
  );
  const facts = [
    lapseOf(action),
    assignee === UNASSIGNED || lapsed ? '' : `@${printable(assignee)}`,
    estimate_hours === undefined ? '' : `${estimate_hours} h`,
    parent_id === undefined ? '' : `part of ${parent_id}`,
  ].filter((fact) => fact !== '');
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(0, width - displayWidth(head));
  const fact = facts.length === 0 ? '' : `  ${facts.join(' · ')}`;
  // A long title leaves half of the line to the facts.
  const text = cutWords(printable(title), Math.max(room - displayWidth(fact), Math.ceil(room / 2)));
  const rest = cutWords(fact, room - displayWidth(text));
  return priorityPaint(colors, priority)(head) + text + (rest === '' ? '' : colors.dim(rest));
}

function lapseOf({ lapsed, held_by, silent_for_s }: Pick<NextAction, 'lapsed' | 'held_by' | 'silent_for_s'>): string {
  if (!lapsed) return '';
  if (held_by === undefined) return 'lapsed: it has no holder';
  const silence = silent_for_s === undefined ? 'never called' : `silent ${largestUnit(silent_for_s * 1000)}`;
  return `lapsed: ${printable(held_by)} ${silence}`;
}

function blockedLines(task: BlockedTask, { width, colors }: Terminal): string[] {
  const { task_id, title, blocked_reason } = task;
  const reason = [printable(blocked_reason), lapseOf(task)].filter((fact) => fact !== '').join(' · ');
  if (width === undefined) return [`     ${task_id} ${printable(title)}  [${reason}]`];
  const indent = ' '.repeat(5);
  return [
    `${indent}${task_id} ${cutWords(printable(title), width - indent.length - task_id.length - 1)}`,
    ...wrap(reason, width - indent.length - 2).map((text) => `${indent}  ${colors.red(text)}`),
  ];
}
