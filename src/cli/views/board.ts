import type { Board, Card, Column } from '../../domains/tasks/board.ts';
import { isOpen, UNASSIGNED } from '../../domains/tasks/workflows.ts';
import type { Styles } from '../../terminal-text.ts';
import { listNames, priorityPaint, statusPaint, type Terminal } from './terminal.ts';
import { cut, displayWidth, pad, printable, wrapShort } from './text-width.ts';

const MIN_COLUMN = 20;
const MAX_COLUMN = 36;
const GAP = 2;
const MAX_TITLE_LINES = 3;
const MAX_REASON_LINES = 2;

/** Columns if there is a width, else one line per task. */
export function renderBoards(boards: readonly Board[], { width, colors }: Terminal): string[] {
  const parts = boards.map((board) => [
    titleOf(board, width, colors),
    ...(width === undefined ? listLines(board) : bandLines(board, width, colors)),
  ]);
  return parts.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function titleOf({ project, workflow, columns }: Board, width: number | undefined, { bold, dim }: Styles): string {
  const open = columns.filter(({ status }) => isOpen(status)).reduce((sum, { count }) => sum + count, 0);
  const finished = columns.filter(({ status }) => !isOpen(status));
  const counts = [
    `${number(open)} open`,
    ...finished.map(({ status, count }) => `${number(count)} ${labelOf(status).toLowerCase()}`),
  ];
  const name = printable(workflow === 'board' ? project : `${project} · ${workflow}`);
  const rest = `  ${counts.join(' · ')}`;
  if (width === undefined) return name + rest;
  return bold(cut(name, width)) + dim(cut(rest, width - displayWidth(cut(name, width))));
}

function bandLines(board: Board, width: number, colors: Styles): string[] {
  const perBand = Math.max(1, Math.floor((width + GAP) / (MIN_COLUMN + GAP)));
  const isRoomy = perBand >= board.columns.length;
  // If the columns do not fit side by side, empty ones are left out.
  const shown = isRoomy ? board.columns : board.columns.filter(({ count }) => count > 0);
  const bands = Math.ceil(shown.length / perBand);
  const size = Math.max(1, Math.ceil(shown.length / Math.max(1, bands)));
  const columnWidth = perBand === 1 ? width : Math.min(MAX_COLUMN, Math.floor((width + GAP) / size) - GAP);
  const lines: string[] = [];
  for (let start = 0; start < shown.length; start += size) {
    const columns = shown.slice(start, start + size).map((column) => columnLines(column, columnWidth, colors));
    lines.push('', ...sideBySide(columns, columnWidth));
  }
  const empty = board.columns.filter((column) => !shown.includes(column)).map(({ status }) => labelOf(status));
  if (empty.length > 0) lines.push('', colors.dim(cut(`empty: ${empty.join(', ')}`, width)));
  return lines;
}

/** Every line is exactly as wide as the column. */
function columnLines({ status, count, cards }: Column, width: number, colors: Styles): string[] {
  const paint = statusPaint(colors, status);
  const total = number(count);
  const head = pad(labelOf(status).toUpperCase(), width - displayWidth(total) - 1);
  const more = count - cards.length;
  return [
    cell(`${head} ${total}`, width, (text) => colors.bold(paint(text))),
    cell('─'.repeat(width), width, paint),
    ...cards.flatMap((card, index) => [...(index === 0 ? [] : [cell('', width)]), ...cardLines(card, width, colors)]),
    ...(more > 0 ? [cell('', width), cell(`and ${number(more)} more`, width, colors.dim)] : []),
  ];
}

/** A bar in the color of the priority, beside the card. */
function cardLines(card: Card, width: number, colors: Styles): string[] {
  const urgency = priorityPaint(colors, card.priority);
  const inner = width - 2;
  const priority = card.priority === 'normal' ? '' : printable(card.priority);
  const reason = reasonOf(card);
  const reasonPaint = card.blocked_reason === undefined ? colors.yellow : colors.red;
  const lines = [
    cell(pad(card.task_id, inner - displayWidth(priority)) + priority, inner, urgency),
    ...wrapShort(printable(card.title), inner, MAX_TITLE_LINES).map((text) => cell(text, inner)),
    ...wrapShort(reason, inner, MAX_REASON_LINES).map((text) => cell(text, inner, reasonPaint)),
    cell(holderOf(card), inner, colors.dim),
  ];
  return lines.filter((line) => line.trim() !== '').map((line) => `${urgency('▌')} ${line}`);
}

function cell(text: string, width: number, paint: (text: string) => string = String): string {
  const shown = cut(text.trimEnd(), width);
  const padding = ' '.repeat(width - displayWidth(shown));
  return (shown === '' ? '' : paint(shown)) + padding;
}

function holderOf({ assignee, progress }: Card): string {
  const done = progress === 0 || progress === 100 ? '' : `${progress} %`;
  const holder = assignee === UNASSIGNED ? '' : `@${printable(assignee)}`;
  return [holder, done].filter((part) => part !== '').join(' · ');
}

function reasonOf({ blocked_reason, waits_for }: Card): string {
  if (blocked_reason !== undefined) return printable(blocked_reason);
  return waits_for.length === 0 ? '' : `waits for ${listNames(waits_for)}`;
}

function sideBySide(columns: readonly string[][], width: number): string[] {
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((lines) => lines[row] ?? ' '.repeat(width))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

function listLines({ columns }: Board): string[] {
  return columns
    .filter(({ count }) => count > 0)
    .flatMap(({ status, count, cards }) => [
      '',
      `${labelOf(status)} (${number(count)})`,
      ...cards.map((card) => {
        const holder = holderOf(card) || UNASSIGNED;
        const reason = reasonOf(card);
        return `  ${card.task_id}  ${card.priority.padEnd(8)}  ${holder}  ${printable(card.title)}${reason === '' ? '' : `  [${reason}]`}`;
      }),
      ...(count > cards.length ? [`  and ${number(count - cards.length)} more`] : []),
    ]);
}

function labelOf(status: string): string {
  return printable(status).replaceAll('_', ' ');
}

function number(count: number): string {
  return count.toLocaleString('en');
}
