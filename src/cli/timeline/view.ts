import { parseJson } from '../../integrity/index.ts';
import type { Style, Styles } from '../../terminal-text.ts';
import { evidencePaint, evidenceText } from '../views/evidence.ts';
import { localTime, plural, shortTime, type Terminal } from '../views/terminal.ts';
import { cut, displayWidth, joinShort, printable, printableProse, wrap, wrapShort } from '../views/text-width.ts';
import type {
  CallEvent,
  CommitEvent,
  DecisionEvent,
  ObservedEvent,
  TaskTitle,
  TimelineEvent,
  TimelineTotals,
  UsageEvent,
} from './events.ts';

/** An event in parts: one line of its own, and what stands below it. */
interface Parts {
  readonly mark: string;
  readonly paint: Style;
  readonly actor: string;
  /** Facts behind the actor. */
  readonly facts: readonly Fact[];
  /** Comes behind the facts if it fits, else below them. */
  readonly aside?: Paragraph;
  readonly body: readonly Paragraph[];
}

type Fact = readonly [text: string, paint?: Style];

interface Paragraph {
  readonly text: string;
  readonly paint?: Style;
  /** Longer ones are cut after a whole word. */
  readonly maxLines?: number;
  /** Each stays on one line. */
  readonly parts?: readonly string[];
}

export interface ViewOptions {
  readonly terminal: Terminal;
  readonly utc: boolean;
}

/** Renders events one after the other: several lines each on a terminal, else one uncut line for other programs. */
export function createEventView({ terminal, utc }: ViewOptions): (event: TimelineEvent) => string[] {
  const { width, colors } = terminal;
  const timeOf = ({ at }: TimelineEvent) => printable(utc ? shortTime(at) : localTime(at));
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

const MARKS = { call: '→', decision: '●', observed: '▸', commit: '◆', usage: '+', unreadable: '✘' } as const;
const SEPARATOR = ' · ';
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
const MAX_TEXT_LINES = 3;

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

function partsOf(event: TimelineEvent, colors: Styles): Parts {
  const mark = MARKS[event.kind];
  switch (event.kind) {
    case 'call':
      return { mark, paint: colors.blue, actor: printable(event.actor), ...callParts(event, colors) };
    case 'decision':
      return { mark, paint: colors.cyan, actor: printable(event.actor), ...decisionParts(event, colors) };
    case 'observed':
      return { mark, paint: colors.magenta, actor: observerOf(event), ...observedParts(event, colors) };
    case 'commit':
      return { mark, paint: colors.yellow, actor: printable(event.actor), ...commitParts(event, colors) };
    case 'usage':
      return { mark, paint: colors.gray, actor: observerOf(event), ...usageParts(event, colors) };
    case 'unreadable':
      return {
        mark,
        paint: colors.red,
        actor: printable(event.actor),
        facts: [['unreadable entry; run colibri verify', colors.red]],
        body: [],
      };
  }
}

type Described = Pick<Parts, 'facts' | 'aside' | 'body'>;

function callParts(event: CallEvent, { green, yellow, red, dim, bold }: Styles): Described {
  const { tool, outcome, duration_ms } = event;
  const paint = outcome === 'ok' ? green : outcome === 'running' ? yellow : red;
  const text = argumentsText(event);
  return {
    facts: [
      [printable(tool), bold],
      [printable(outcome), paint],
      [duration_ms === null ? '' : `${duration_ms} ms`, dim],
    ],
    ...(text !== '' && { aside: { text, paint: dim, maxLines: MAX_TEXT_LINES } }),
    body: [],
  };
}

/** The task is that of the timeline, and a decision that was recorded comes next with its text. */
function argumentsText({ tool, outcome, arguments: text }: CallEvent): string {
  if (tool === 'thought_record' && outcome === 'ok') return '';
  try {
    const value: unknown = parseJson(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return text;
    return Object.entries(value)
      .filter(([name]) => name !== 'task_id' && name !== 'id')
      .map(([name, member]) => `${name}: ${typeof member === 'string' ? member : JSON.stringify(member)}`)
      .join(', ');
  } catch {
    return text;
  }
}

function decisionParts(event: DecisionEvent, styles: Styles): Described {
  const { type, thought_id, session_id, content, extras, evidence } = event;
  const { bold, dim } = styles;
  const compared = new Set<string>(evidence.map(({ field }) => field));
  return {
    facts: [
      [printable(type), bold],
      [`${thought_id} · ${session_id}`, dim],
    ],
    body: [
      { text: printableProse(content).trimEnd() },
      ...evidence.map((item) => ({
        text: `${item.field}: ${item.value} (${evidenceText(item)})`,
        paint: evidencePaint(styles, item.state),
        maxLines: MAX_TEXT_LINES,
      })),
      ...Object.entries(extras)
        .filter(([name]) => !compared.has(name))
        .map(([name, value]) => ({
          text: `${printable(name)}: ${extraText(value)}`,
          paint: dim,
          maxLines: MAX_TEXT_LINES,
        })),
    ],
  };
}

function extraText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? value.join('; ')
    : JSON.stringify(value);
}

/** "claude-code › Explore": a client, and the sub-agent that acted. */
function observerOf({ client, agent }: ObservedEvent | UsageEvent): string {
  return agent === undefined ? printable(client) : `${printable(client)} › ${printable(agent)}`;
}

function observedParts(event: ObservedEvent, styles: Styles): Described {
  const { bold, dim } = styles;
  const { tool, event: name, duration_ms, call_id, session, content } = event;
  const { command, path, input, defect, cut: isCut } = content;
  const text = defect ?? command ?? path ?? input;
  const parts = [...(call_id === undefined ? [] : [`call ${call_id}`]), `session ${session}`];
  return {
    facts: [
      [printable(tool ?? name), bold],
      outcomeFact(event, styles),
      [duration_ms === undefined ? '' : `${duration_ms} ms`, dim],
    ],
    body: [
      ...(text === undefined ? [] : [{ text: isCut ? `${text} …` : text, maxLines: MAX_TEXT_LINES }]),
      { text: parts.join(SEPARATOR), parts, paint: dim },
    ],
  };
}

/** States only what was reported: a command without an exit code neither passed nor failed. */
function outcomeFact({ exit_code, outcome, action, phase }: ObservedEvent, { green, red, yellow }: Styles): Fact {
  if (exit_code !== undefined) return [`exit ${exit_code}`, exit_code === 0 ? green : red];
  if (outcome === 'failed' || phase === 'failed') return ['failed', red];
  if (action === 'shell') return ['exit code unknown', yellow];
  if (outcome === undefined) return [''];
  return outcome === 'ok' ? ['ok', green] : ['outcome unknown', yellow];
}

const SHORT_SHA = 12;

function commitParts(
  { sha, branch, paths, rewrites, cut: isCut }: CommitEvent,
  { bold, dim, yellow }: Styles,
): Described {
  const names = isCut ? [...paths, '…'] : paths;
  return {
    facts: [
      [`commit ${printable(sha.slice(0, SHORT_SHA))}`, bold],
      [branch === undefined ? '' : `on ${printable(branch)}`],
      [rewrites === undefined ? '' : `rewrites ${printable(rewrites.slice(0, SHORT_SHA))}`, yellow],
    ],
    body: names.length === 0 ? [] : [{ text: names.join(', '), paint: dim, maxLines: MAX_TEXT_LINES }],
  };
}

function usageParts(event: UsageEvent, { dim }: Styles): Described {
  const { model, responses, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = event;
  const tokens = (count: number, what: string): Fact => [`${count.toLocaleString('en')} ${what},`];
  return {
    facts: [
      tokens(input_tokens, 'tokens in'),
      tokens(output_tokens, 'out'),
      tokens(cache_read_tokens, 'cached'),
      tokens(cache_write_tokens, 'cache writes'),
      [plural(responses, 'response'), dim],
      [`of ${printable(model)}`, dim],
    ],
    body: [],
  };
}
