import type { Styles } from '../../terminal-text.ts';
import { plural, type Terminal, timeFormat } from '../views/terminal.ts';
import { cut, displayWidth, joinShort, printable, wrap, wrapShort } from '../views/text-width.ts';
import { type Fact, type Paragraph, partsOf, SEPARATOR } from './event-parts.ts';
import type { TaskTitle, TimelineEvent, TimelineTotals } from './events.ts';

export interface ViewOptions {
  readonly terminal: Terminal;
  readonly utc: boolean;
}

/** Renders events one after the other: several lines each on a terminal, else one uncut line for other programs. */
export function createEventView({ terminal, utc }: ViewOptions): (event: TimelineEvent) => string[] {
  const { width, colors } = terminal;
  const format = timeFormat(utc);
  const timeOf = ({ at }: TimelineEvent) => printable(format(at));
  if (width === undefined) return (event) => [renderLine(event, timeOf(event), colors)];
  let day = '';
  return (event) => {
    const time = timeOf(event);
    const lines = renderBlock(event, time.slice(11, 19), { width, colors });
    if (time.slice(0, 10) === day) return lines;
    day = time.slice(0, 10);
    return [colors.bold(day), ...lines];
  };
}

/** "T-0042  Rotate the signing keys", above the first event. */
export function renderTitle({ task_id, title }: TaskTitle, { width, colors }: Terminal): string[] {
  if (width === undefined) return [];
  const indent = ' '.repeat(task_id.length + 2);
  const [first = '', ...rest] = wrap(printable(title), width - indent.length).map((line) => colors.bold(line));
  return [`${colors.cyan(task_id)}  ${first}`, ...rest.map((line) => indent + line)];
}

/** "12 calls, 3 decisions, 40 observed actions and 2 commits", and what was left out. */
export function renderTotals(totals: TimelineTotals, { width = Number.POSITIVE_INFINITY, colors }: Terminal): string[] {
  const { calls, decisions, observed, commits, usage, unreadable, shown } = totals;
  const total = calls + decisions + observed + commits + usage + unreadable;
  const counts = [
    plural(calls, 'call'),
    plural(decisions, 'decision'),
    plural(observed, 'observed action'),
    plural(commits, 'commit'),
    ...(usage === 0 ? [] : [plural(usage, 'usage report')]),
  ].join(', ');
  const rest =
    shown === total ? '' : ` The last ${shown.toLocaleString('en')} of ${total.toLocaleString('en')} are shown.`;
  const damage =
    unreadable === 0 ? '' : ` ${plural(unreadable, 'entry', 'entries')} cannot be read: run colibri verify.`;
  return wrap(`${totals.task_id} has ${counts}.${rest}${damage}`, width).map((line) =>
    unreadable === 0 ? colors.dim(line) : colors.red(line),
  );
}

const KIND_WIDTH = 'unreadable'.length;

/** "   #88 2026-04-08 22:15:30Z call       claude-code task_update ok 2 ms {…}" */
function renderLine(event: TimelineEvent, time: string, colors: Styles): string {
  const { paint, actor, facts, aside, body } = partsOf(event, colors);
  const cells = [
    colors.dim(`#${event.entry}`.padStart(6)),
    colors.dim(time),
    paint(event.kind.padEnd(KIND_WIDTH)),
    colors.cyan(actor),
    ...facts.map(([text, paintFact = String]) => paintFact(text)),
    ...[aside ?? [], body].flat().map(({ text, paint: paintText = String }) => paintText(printable(text))),
  ];
  return cells.filter((cell) => cell !== '').join(' ');
}

/** Narrower terminals leave no room for text beside the numbers and times. */
const INDENTED_FROM = 40;

function renderBlock(event: TimelineEvent, time: string, page: { readonly width: number; readonly colors: Styles }) {
  const { width, colors } = page;
  const { mark, paint, actor, facts, aside, body } = partsOf(event, colors);
  const place = `${`#${event.entry}`.padStart(6)} ${time}`;
  const named: Fact[] = [[actor, colors.cyan], ...facts];
  const extended = aside === undefined ? named : [...named, [printable(aside.text), aside.paint ?? String] as const];
  const isInline = displayWidth(extended.map(([text]) => text).join(' ')) <= width - place.length - 3;
  const [head = '', ...more] = flow(isInline ? extended : named, width - place.length - 3);
  const indent = ' '.repeat(width < INDENTED_FROM ? 2 : place.length + 1);
  const edge = `${indent}${colors.dim('│')} `;
  const room = width - indent.length - 2;
  const below = [isInline ? [] : (aside ?? []), body]
    .flat()
    .flatMap((paragraph) =>
      wrapParagraph(paragraph, room).map((line) =>
        line === '' ? edge.trimEnd() : edge + (paragraph.paint ?? String)(line),
      ),
    );
  return [
    `${colors.dim(place)} ${paint(mark)} ${head}`,
    ...more.map((line) => `${' '.repeat(place.length + 3)}${line}`),
    ...below,
  ];
}

function wrapParagraph({ text, maxLines, parts }: Paragraph, width: number): string[] {
  if (parts !== undefined) return joinShort(parts.map(printable), SEPARATOR, width);
  return maxLines === undefined ? wrap(text, width) : wrapShort(printable(text), width, maxLines);
}

/** Fills lines with facts. A fact that is wider than a line is cut. */
function flow(facts: readonly Fact[], width: number): string[] {
  const lines: string[] = [];
  let [line, used] = ['', 0];
  for (const [text, paint = String] of facts.filter(([fact]) => fact !== '')) {
    const shown = cut(text, width);
    if (used > 0 && used + 1 + displayWidth(shown) > width) {
      lines.push(line);
      [line, used] = ['', 0];
    }
    line += (used === 0 ? '' : ' ') + paint(shown);
    used += (used === 0 ? 0 : 1) + displayWidth(shown);
  }
  return [...lines, line];
}
