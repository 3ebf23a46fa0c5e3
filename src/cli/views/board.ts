import type { Board, Card, Column } from '../../domains/tasks/board.ts';
import { isOpen, UNASSIGNED } from '../../domains/tasks/workflows.ts';
import type { Styles } from '../../terminal-text.ts';
import { largestUnit } from '../../text/duration.ts';
import { contradictionMark, evidenceMark } from './evidence.ts';
import { listNames, priorityPaint, statusPaint, type Terminal } from './terminal.ts';
import { cut, displayWidth, joinShort, pad, printable, wrap, wrapShort } from './text-width.ts';

const MIN_COLUMN = 20;
const MAX_COLUMN = 36;
const GAP = 2;
const MAX_TITLE_LINES = 3;
const MAX_REASON_LINES = 2;

/** What `colibri board --json` prints. */
export interface BoardsView {
  readonly boards: readonly Board[];
  /** Projects that are not shown. */
  readonly other_projects: readonly string[];
}

interface Page extends Terminal {
  readonly nowMs: number;
}

/** Columns if there is a width, else one line per task. */
export function renderBoards({ boards, other_projects }: BoardsView, terminal: Terminal, nowMs: number): string[] {
  const { width, colors } = terminal;
  const page = { ...terminal, nowMs };
  const parts = boards.map((board) => [
    titleOf(board, width, colors),
    ...(width === undefined ? listLines(board, page) : bandLines(board, width, page)),
  ]);
  const note = `Other projects: ${listNames(other_projects)}. Show one with --project NAME, or all with --all.`;
  const notes = other_projects.length === 0 ? [] : [wrap(note, width ?? Number.POSITIVE_INFINITY).map(colors.dim)];
  return [...parts, ...notes].flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
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
  if (width === undefined) return bold(name) + dim(rest);
  return bold(cut(name, width)) + dim(cut(rest, width - displayWidth(cut(name, width))));
}

function bandLines(board: Board, width: number, page: Page): string[] {
  const perBand = Math.max(1, Math.floor((width + GAP) / (MIN_COLUMN + GAP)));
  const isRoomy = perBand >= board.columns.length;
  // If the columns do not fit side by side, empty ones are left out.
  const shown = isRoomy ? board.columns : board.columns.filter(({ count }) => count > 0);
  const bands = Math.ceil(shown.length / perBand);
  const size = Math.max(1, Math.ceil(shown.length / Math.max(1, bands)));
  const columnWidth = perBand === 1 ? width : Math.min(MAX_COLUMN, Math.floor((width + GAP) / size) - GAP);
  const lines: string[] = [];
  for (let start = 0; start < shown.length; start += size) {
    const columns = shown.slice(start, start + size).map((column) => columnLines(column, columnWidth, page));
    lines.push('', ...sideBySide(columns, columnWidth));
  }
  const empty = board.columns.filter((column) => !shown.includes(column)).map(({ status }) => labelOf(status));
  if (empty.length > 0) lines.push('', ...wrap(`empty: ${empty.join(', ')}`, width).map(page.colors.dim));
  return lines;
}

/** Every line is exactly as wide as the column. */
function columnLines({ status, count, cards }: Column, width: number, page: Page): string[] {
  const { colors } = page;
  const paint = statusPaint(colors, status);
  const total = number(count);
  const head = pad(labelOf(status).toUpperCase(), width - displayWidth(total) - 1);
  const more = count - cards.length;
  return [
    cell(`${head} ${total}`, width, (text) => colors.bold(paint(text))),
    cell('─'.repeat(width), width, paint),
    ...cards.flatMap((card, index) => [
      ...(index === 0 ? [] : [cell('', width)]),
      ...cardLines(card, isOpen(status), width, page),
    ]),
    ...(more > 0 ? [cell('', width), cell(`and ${number(more)} more`, width, colors.dim)] : []),
  ];
}

/** A bar in the color of the priority, beside the card. */
function cardLines(card: Card, isOpenTask: boolean, width: number, { colors, nowMs }: Page): string[] {
  const urgency = priorityPaint(colors, card.priority);
  const inner = width - 2;
  const priority = card.priority === 'normal' ? '' : printable(card.priority);
  const age = ageOf(card, nowMs);
  const reason = reasonOf(card);
  const reasonPaint = card.blocked_reason === undefined ? colors.yellow : colors.red;
  const facts = [
    ownerOf(card),
    isOpenTask ? progressOf(card) : '',
    card.lapsed ? '' : silenceOf(card),
    evidenceMark(card.evidence),
  ];
  const lines = [
    headLine(card.task_id, priority, age, inner, urgency, colors),
    ...wrapShort(printable(card.title), inner, MAX_TITLE_LINES).map((text) => cell(text, inner)),
    ...wrapShort(reason, inner, MAX_REASON_LINES).map((text) => cell(text, inner, reasonPaint)),
    ...joinShort(facts, SEPARATOR, inner).map((text) => cell(text, inner, colors.dim)),
    ...wrap(contradictionMark(card.evidence), inner).map((text) => cell(text, inner, colors.red)),
    ...(card.lapsed ? wrap(lapseOf(card), inner).map((text) => cell(text, inner, colors.red)) : []),
  ];
  return lines.filter((line) => line.trim() !== '').map((line) => `${urgency('▌')} ${line}`);
}

/** The id at the left, priority and age at the right; the age is left out where it does not fit. */
function headLine(
  id: string,
  priority: string,
  age: string,
  width: number,
  paint: (text: string) => string,
  { dim }: Styles,
): string {
  const head = [id, priority].filter((part) => part !== '').join(' ');
  const end = age !== '' && displayWidth(head) + 1 + displayWidth(age) <= width ? ` ${age}` : '';
  const room = width - displayWidth(end);
  return cell(pad(id, room - displayWidth(priority)) + priority, room, paint) + (end === '' ? '' : dim(end));
}

function cell(text: string, width: number, paint: (text: string) => string = String): string {
  const shown = cut(text.trimEnd(), width);
  const padding = ' '.repeat(width - displayWidth(shown));
  return (shown === '' ? '' : paint(shown)) + padding;
}

const SEPARATOR = ' · ';

/** The holder if there is one: it may work on a task that is assigned to another actor. */
function ownerOf({ assignee, holder = assignee }: Card): string {
  return holder === UNASSIGNED ? '' : `@${printable(holder)}`;
}

function progressOf({ progress }: Card): string {
  return progress === 0 || progress === 100 ? '' : `${progress} %`;
}

/** The time since the last change. */
function ageOf({ updated_at }: Card, nowMs: number): string {
  return largestUnit(nowMs - Date.parse(updated_at));
}

/** The time since the last call of the holder. */
function silenceOf({ silent_for_s }: Card): string {
  return silent_for_s === undefined ? '' : `silent ${largestUnit(silent_for_s * 1000)}`;
}

function lapseOf(card: Card): string {
  return `claim lapsed: ${silenceOf(card)}`;
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

function listLines({ columns }: Board, page: Page): string[] {
  return columns
    .filter(({ count }) => count > 0)
    .flatMap(({ status, count, cards }) => [
      '',
      page.colors.bold(statusPaint(page.colors, status)(`${labelOf(status)} (${number(count)})`)),
      ...cards.map((card) => listLine(card, isOpen(status), page)),
      ...(count > cards.length ? [`  and ${number(count - cards.length)} more`] : []),
    ]);
}

function listLine(card: Card, isOpenTask: boolean, { nowMs, colors }: Page): string {
  const urgency = priorityPaint(colors, card.priority);
  const facts = [
    ownerOf(card) || UNASSIGNED,
    isOpenTask ? progressOf(card) : '',
    `${ageOf(card, nowMs)} ago`,
    card.lapsed ? lapseOf(card) : silenceOf(card),
    evidenceMark(card.evidence),
    contradictionMark(card.evidence),
  ];
  const reason = reasonOf(card);
  const [line = ''] = joinShort(facts, SEPARATOR, Number.POSITIVE_INFINITY);
  const reasonPaint = card.blocked_reason === undefined ? colors.yellow : colors.red;
  const end = reason === '' ? '' : `  ${reasonPaint(`[${reason}]`)}`;
  const head = urgency(`${card.task_id}  ${card.priority.padEnd(8)}`);
  return `  ${head}  ${colors.dim(line)}  ${printable(card.title)}${end}`;
}

function labelOf(status: string): string {
  return printable(status).replaceAll('_', ' ');
}

function number(count: number): string {
  return count.toLocaleString('en');
}
