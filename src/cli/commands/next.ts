import type { Command } from 'commander';
import { type BlockedTask, listBlocked, listNextActions, type NextAction } from '../../domains/tasks/next-actions.ts';
import { UNASSIGNED } from '../../domains/tasks/workflows.ts';
import { print, printJson } from '../support/print.ts';
import {
  chooseProjects,
  EMPTY,
  EXIT_CODES,
  parseCount,
  parseProject,
  showFromLedger,
} from '../support/read-command.ts';
import { withLedger } from '../support/with-ledger.ts';
import { findTerminal, parseWidth, priorityPaint, type Terminal } from '../views/terminal.ts';
import { cut, displayWidth, printable, wrap } from '../views/text-width.ts';

const DEFAULT_LIMIT = 20;

interface NextOptions {
  readonly project?: string;
  readonly all?: boolean;
  readonly limit?: number;
  readonly width?: number;
  readonly json?: boolean;
}

interface Queue {
  readonly project: string;
  readonly next_actions: readonly NextAction[];
  readonly blocked: readonly BlockedTask[];
  /** True when the list was cut. */
  readonly has_more: { readonly next_actions: boolean; readonly blocked: boolean };
}

const MORE = `
The same queue that task_next_actions gives to agents: highest priority first, then oldest.

Examples:
  colibri next
  colibri next --project web -n 5
  colibri next --json | jq -r '.queues[].next_actions[0].task_id'

Exit codes: ${EXIT_CODES}.`;

export function addNext(program: Command): void {
  program
    .command('next')
    .description('what can be worked on now, and what cannot and why')
    .option('-p, --project <slug>', 'the project', parseProject)
    .option('-a, --all', 'every project')
    .option('-n, --limit <count>', `tasks in each list (default: ${DEFAULT_LIMIT})`, parseCount)
    .option('--width <columns>', "cut lines to this width (default: the terminal's)", parseWidth)
    .option('--json', 'print it as JSON')
    .addHelpText('after', MORE)
    .action((options: NextOptions) => showFromLedger('next', options.json ?? false, () => showNext(options)));
}

async function showNext({ project, all, limit = DEFAULT_LIMIT, width, json }: NextOptions): Promise<number> {
  const queues = await withLedger(async (reader) => {
    const found: Queue[] = [];
    for (const name of await chooseProjects(reader, project, all)) {
      // One more than is shown tells whether there are more.
      const ready = await listNextActions(reader, name, limit + 1);
      const blocked = await listBlocked(reader, name, limit + 1);
      found.push({
        project: name,
        next_actions: ready.slice(0, limit),
        blocked: blocked.slice(0, limit),
        has_more: { next_actions: ready.length > limit, blocked: blocked.length > limit },
      });
    }
    return found;
  });
  const terminal = findTerminal(width);
  if (json) printJson({ queues });
  else if (queues.length === 0) print(EMPTY);
  else print(queues.flatMap((queue, index) => [...(index === 0 ? [] : ['']), ...renderQueue(queue, terminal)]));
  return 0;
}

function renderQueue(queue: Queue, terminal: Terminal): string[] {
  const { width = Number.POSITIVE_INFINITY, colors } = terminal;
  const { project, next_actions, blocked, has_more } = queue;
  const title = (text: string) => colors.bold(cut(`${printable(project)}: ${text}`, width));
  const note = (text: string) => wrap(text, width - 2).map((line) => `  ${colors.dim(line)}`);
  const more = note('and more: --limit shows them');
  const lines = [title('ready to be taken')];
  for (const [index, action] of next_actions.entries()) lines.push(readyLine(action, index + 1, terminal));
  if (next_actions.length === 0) {
    lines.push(...note('nothing: every open task is taken, waits, or is still in the backlog'));
  }
  if (has_more.next_actions) lines.push(...more);
  if (blocked.length > 0) lines.push('', title('cannot go on'));
  for (const task of blocked) lines.push(...blockedLines(task, terminal));
  if (has_more.blocked) lines.push(...more);
  return lines;
}

function readyLine(action: NextAction, place: number, { width, colors }: Terminal): string {
  const { task_id, title, priority, assignee, estimate_hours, parent_id } = action;
  const head = cut(
    `${String(place).padStart(3)}. ${task_id} ${printable(priority).padEnd(8)} `,
    width ?? Number.POSITIVE_INFINITY,
  );
  const facts = [
    assignee === UNASSIGNED ? '' : `@${printable(assignee)}`,
    estimate_hours === undefined ? '' : `${estimate_hours} h`,
    parent_id === undefined ? '' : `part of ${parent_id}`,
  ].filter((fact) => fact !== '');
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(0, width - displayWidth(head));
  const text = cut(printable(title), room);
  const rest = facts.length === 0 ? '' : cut(`  ${facts.join(' · ')}`, room - displayWidth(text));
  return priorityPaint(colors, priority)(head) + text + (rest === '' ? '' : colors.dim(rest));
}

function blockedLines({ task_id, title, blocked_reason }: BlockedTask, { width, colors }: Terminal): string[] {
  const reason = printable(blocked_reason);
  if (width === undefined) return [`     ${task_id} ${printable(title)}  [${reason}]`];
  const indent = ' '.repeat(5);
  return [
    `${indent}${task_id} ${cut(printable(title), width - indent.length - task_id.length - 1)}`,
    ...wrap(reason, width - indent.length - 2).map((text) => `${indent}  ${colors.red(text)}`),
  ];
}
