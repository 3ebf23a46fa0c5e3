import { isOpen, UNASSIGNED } from '../../domains/tasks/workflows.ts';
import { largestUnit } from '../../text/duration.ts';
import { COLUMNS, type ListedRow } from '../query/list-tasks.ts';
import { priorityPaint, statusPaint, type Terminal } from './terminal.ts';
import { cutWords, pad, printable } from './text-width.ts';

const ID_WIDTH = 6;
const STATUS_WIDTH = 11;
const PRIORITY_WIDTH = 8;
const AGE_WIDTH = 4;
const OWNER_WIDTH = 14;
/**
 * Narrower lines have no priority, which the color shows too, and no progress; then no age and no owner; then no
 * status.
 */
const WIDE = 100;
const MEDIUM = 60;
const NARROW = 36;

/** One line per task, for people. */
export function renderListLine(task: ListedRow, { width, colors }: Terminal, nowMs: number): string {
  const { task_id, status, priority, progress, assignee, holder = assignee, title, updated_at } = task;
  const owner = holder === UNASSIGNED ? '-' : `@${printable(holder)}`;
  const age = largestUnit(nowMs - Date.parse(updated_at)).padStart(AGE_WIDTH);
  const percent = isOpen(status) && progress > 0 ? ` ${progress} %` : '';
  const has = (least: number) => width === undefined || width >= least;
  const urgency = priorityPaint(colors, priority);
  const same = (text: string) => text;
  const cells: readonly (readonly [text: string, size: number, paint: (text: string) => string, least: number])[] = [
    [task_id, ID_WIDTH, urgency, 0],
    [printable(status), STATUS_WIDTH, statusPaint(colors, status), NARROW],
    [priority, PRIORITY_WIDTH, urgency, WIDE],
    [age, AGE_WIDTH, colors.dim, MEDIUM],
    [owner, OWNER_WIDTH, same, MEDIUM],
  ];
  const shown = cells.filter(([, , , least]) => has(least));
  const column = (text: string, size: number) => (width === undefined ? text.padEnd(size) : pad(text, size));
  const text = `${printable(title)}${has(WIDE) ? percent : ''}`;
  const used = shown.reduce((sum, [, size]) => sum + size + 2, 0);
  const rest = width === undefined ? text : cutWords(text, Math.max(1, width - used));
  return [...shown.map(([cell, size, paint]) => paint(column(cell, size))), rest].join('  ');
}

/** The cells of one record of RFC 4180. */
export function csvCells(task: ListedRow): string[] {
  return COLUMNS.map((name) => csvCell(textOf(task[name])));
}

export const CSV_HEADER: readonly string[] = COLUMNS;

/** A spreadsheet would run a text that begins like this as a formula; the quote makes it a text. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

function csvCell(text: string): string {
  const safe = FORMULA.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const MARKDOWN_COLUMNS = ['task_id', 'status', 'priority', 'assignee', 'title', 'updated_at'] as const;

export const MARKDOWN_HEADER: readonly string[] = [
  `| ${MARKDOWN_COLUMNS.map(markdownCell).join(' | ')} |`,
  `| ${MARKDOWN_COLUMNS.map(() => '---').join(' | ')} |`,
];

export function markdownLine(task: ListedRow): string {
  return `| ${MARKDOWN_COLUMNS.map((name) => markdownCell(textOf(task[name]))).join(' | ')} |`;
}

/** Shown as it is: no markup, no HTML, no other cell. */
function markdownCell(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_{}[\]()#+!|~>]/g, (character) => `\\${character}`);
}

/** A label may contain blanks, and a comma would make the cell need quotes. */
function textOf(value: ListedRow[keyof ListedRow]): string {
  if (value === undefined) return '';
  return Array.isArray(value) ? value.join(';') : String(value);
}
