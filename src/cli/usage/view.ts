import { addCounts, type UsageCounts } from '../../recorder/reports/usage.ts';
import { plural, type Terminal } from '../views/terminal.ts';
import { cut, displayWidth, printable, wrap } from '../views/text-width.ts';
import type { TaskUsage, UsageData } from './usage-data.ts';

const NOTHING =
  'No client has reported tokens yet. Run colibri init --record to record what agents do; clients report when they stop.';
const HEADS = ['task', 'model', 'responses', 'input', 'output', 'cache read', 'cache write', 'cost'];
const MODEL = HEADS.indexOf('model');
const MIN_MODEL_WIDTH = 8;
const GAP = '  ';

type Format = (count: number) => string;

const whole: Format = (count) => count.toLocaleString('en');
/** "1.2M" */
const compact: Format = (count) => count.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 1 });

/** One line for each task and model, and the sum. A narrow terminal gets rounded numbers and shorter names. */
export function renderUsage(
  { usage, prices }: UsageData,
  { width = Number.POSITIVE_INFINITY, colors }: Terminal,
): string[] {
  if (usage.length === 0) return wrap(NOTHING, width);
  const lines = layOut(usage, whole, width) ?? layOut(usage, compact, width, true) ?? [];
  const paint = (line: string, place: number) =>
    place === 0 ? colors.dim(line) : place === lines.length - 1 ? colors.bold(line) : line;
  const unpriced = usage.filter(({ cost_usd }) => cost_usd === null).length;
  const note = [
    `Cost at list prices of ${prices.date} in US dollars, from ${prices.source}; not what you were charged.`,
    ...(unpriced === 0 ? [] : [`${plural(unpriced, 'line has', 'lines have')} no cost, because a price is not known.`]),
  ];
  return [...lines.map(paint), ...note.flatMap((text) => wrap(text, width)).map((line) => colors.dim(line))];
}

/** Undefined if the table is too wide, unless it must fit. */
function layOut(usage: readonly TaskUsage[], format: Format, width: number, mustFit = false): string[] | undefined {
  const rows = [HEADS, ...usage.map((line) => cellsOf(line, format)), totalOf(usage, format)];
  const widths = HEADS.map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))));
  const excess = widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length) - width;
  if (excess > 0 && !mustFit) return undefined;
  if (excess > 0) widths[MODEL] = Math.max(MIN_MODEL_WIDTH, (widths[MODEL] ?? 0) - excess);
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      align(cut(cell, widths[column] ?? 0), widths[column] ?? 0, column <= MODEL),
    );
    return cut(cells.join(GAP).trimEnd(), width);
  });
}

function cellsOf({ task_id, model, cost_usd, ...counts }: TaskUsage, format: Format): string[] {
  const cost = cost_usd === null ? '–' : money(cost_usd);
  return [task_id ?? 'no task', printable(model), ...countCells(counts, format), cost];
}

function totalOf(usage: readonly TaskUsage[], format: Format): string[] {
  const counts = usage.reduce<UsageCounts | undefined>(addCounts, undefined) as UsageCounts;
  const known = usage.flatMap(({ cost_usd }) => (cost_usd === null ? [] : [cost_usd]));
  const cost = known.length === 0 ? '–' : money(known.reduce((sum, each) => sum + each, 0));
  return ['total', '', ...countCells(counts, format), cost];
}

function countCells(counts: UsageCounts, format: Format): string[] {
  const { responses, input_tokens, output_tokens, cache_read_tokens } = counts;
  const written = counts.cache_write_tokens + counts.cache_write_1h_tokens;
  return [responses, input_tokens, output_tokens, cache_read_tokens, written].map(format);
}

/** An amount below a cent is not nothing. */
function money(amount: number): string {
  const digits = amount > 0 && amount < 0.01 ? 4 : 2;
  return `$${amount.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

function align(cell: string, width: number, isText: boolean): string {
  const room = ' '.repeat(Math.max(0, width - displayWidth(cell)));
  return isText ? cell + room : room + cell;
}
