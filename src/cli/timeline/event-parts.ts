import { evidenceText } from '../../integrity/evidence/evidence-text.ts';
import { parseJson } from '../../integrity/index.ts';
import type { Style, Styles } from '../../terminal-text.ts';
import { evidencePaint } from '../views/evidence.ts';
import { extraText } from '../views/show-data.ts';
import { plural } from '../views/terminal.ts';
import { printable, printableProse } from '../views/text-width.ts';
import type { CallEvent, CommitEvent, DecisionEvent, ObservedEvent, TimelineEvent, UsageEvent } from './events.ts';

/** An event in parts: one line of its own, and what stands below it. */
export interface Parts {
  readonly mark: string;
  readonly paint: Style;
  readonly actor: string;
  /** Facts behind the actor. */
  readonly facts: readonly Fact[];
  /** Comes behind the facts if it fits, else below them. */
  readonly aside?: Paragraph;
  readonly body: readonly Paragraph[];
}

export type Fact = readonly [text: string, paint?: Style];

export interface Paragraph {
  readonly text: string;
  readonly paint?: Style;
  /** Longer ones are cut after a whole word. */
  readonly maxLines?: number;
  /** Each stays on one line. */
  readonly parts?: readonly string[];
}

const MARKS = { call: '→', decision: '●', observed: '▸', commit: '◆', usage: '+', unreadable: '✘' } as const;
export const SEPARATOR = ' · ';
const MAX_TEXT_LINES = 3;

export function partsOf(event: TimelineEvent, colors: Styles): Parts {
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
      [event.after_review ? 'after review' : '', dim],
      [duration_ms === undefined ? '' : `${duration_ms} ms`, dim],
    ],
    body: [
      ...(text === undefined ? [] : [{ text: isCut ? `${text} …` : text, maxLines: MAX_TEXT_LINES }]),
      { text: parts.join(SEPARATOR), parts, paint: dim },
    ],
  };
}

function outcomeFact(event: ObservedEvent, { green, red, yellow }: Styles): Fact {
  const text = outcomeText(event);
  if (text === 'ok' || text === 'exit 0') return [text, green];
  return [text, text.endsWith('unknown') ? yellow : red];
}

/** States only what was reported: a command without an exit code neither passed nor failed. */
export function outcomeText({ exit_code, outcome, action, phase }: ObservedEvent): string {
  if (exit_code !== undefined) return `exit ${exit_code}`;
  if (outcome === 'failed' || (phase === 'failed' && outcome === undefined)) return 'failed';
  if (action === 'shell') return 'exit code unknown';
  if (outcome === undefined) return '';
  return outcome === 'ok' ? 'ok' : 'outcome unknown';
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
