import { type BundleReport, type Json, parseJson, redactionNote } from '../../src/integrity/index.ts';

export type BundleEntry = BundleReport['entries'][number];

export const RECORD_KINDS = ['call', 'decision', 'task', 'session', 'observed', 'commit', 'log'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** One line of the timeline: an entry, or both entries of a call. */
export interface LogRecord {
  readonly entry: BundleEntry;
  /** The exit of a call, or the entry that says it was interrupted. */
  readonly exit?: BundleEntry;
  readonly kind: RecordKind;
  readonly title: string;
  readonly text: string;
  /** In one word, with what it means. */
  readonly outcome?: readonly [word: string, is: 'good' | 'bad' | 'neutral'];
  readonly taskId?: string;
}

type Content = { readonly [field: string]: Json };

/** What the entries say, in the order of the log. */
export function listRecords(entries: readonly BundleEntry[]): LogRecord[] {
  const exits = new Map<number, BundleEntry>();
  for (const entry of entries) if (isExit(entry)) exits.set(Number(entry.fields['sequence_no']), entry);
  const notes = new Map(
    entries
      .filter(({ fields }) => fields.kind === 'redaction')
      .map(({ fields }) => [Number(fields['redacts']), redactionNote(fields)]),
  );
  const enters = new Set(entries.filter(({ fields }) => fields.kind === 'action.enter').map(({ index }) => index));
  return entries
    .filter((entry) => !isExit(entry) || !enters.has(Number(entry.fields['sequence_no'])))
    .map((entry) => recordOf(entry, exits.get(entry.index), notes.get(entry.index) ?? WITHHELD));
}

/** The record that an entry belongs to. */
export function findRecord(records: readonly LogRecord[], index: number): number {
  return records.findIndex(({ entry, exit }) => entry.index === index || exit?.index === index);
}

function isExit({ fields }: BundleEntry): boolean {
  return fields.kind === 'action.exit' || fields.kind === 'action.interrupted';
}

/** Disclosed content as an object; undefined if it is withheld or is a plain text. */
export function contentOf({ disclosed }: BundleEntry): Content | undefined {
  if (disclosed === undefined) return undefined;
  try {
    const value: Json = parseJson(disclosed.text) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Content) : undefined;
  } catch {
    return undefined;
  }
}

/** `withheld` stands in the place of content that is not here. */
function recordOf(entry: BundleEntry, exit: BundleEntry | undefined, withheld: string): LogRecord {
  const { fields } = entry;
  const taskId = typeof fields['task_id'] === 'string' ? fields['task_id'] : undefined;
  const found = describe(entry, exit, withheld);
  return {
    entry,
    ...(exit !== undefined && { exit }),
    ...found,
    ...((found.taskId ?? taskId) !== undefined && { taskId: found.taskId ?? taskId ?? '' }),
  };
}

type Description = Pick<LogRecord, 'kind' | 'title' | 'text' | 'outcome' | 'taskId'>;

const WITHHELD = 'content not disclosed';

function describe(entry: BundleEntry, exit: BundleEntry | undefined, withheld: string): Description {
  const { fields, disclosed } = entry;
  const text = (name: string) => textOf(fields[name]);
  const content = contentOf(entry);
  const shown = (name: string) => textOf(content?.[name]);
  switch (fields.kind) {
    case 'action.enter':
      return describeCall(entry, exit, withheld);
    case 'action.exit':
    case 'action.interrupted':
      return { kind: 'call', title: `end of call ${text('sequence_no')}`, text: text('outcome') };
    case 'task.created':
    case 'task.updated': {
      const verb = fields.kind === 'task.created' ? 'created' : 'changed';
      const about = content === undefined ? withheld : `${shown('status')} · ${shown('title')}`;
      return { kind: 'task', title: `${text('task_id')} ${verb}`, text: about };
    }
    case 'thought':
      return {
        kind: 'decision',
        title: `${disclosed?.thought?.type ?? 'thought'} ${text('thought_id')}`,
        text: disclosed?.thought?.content ?? withheld,
      };
    case 'session.started':
      return {
        kind: 'session',
        title: `${text('session_id')} started`,
        text: `for ${text('task_id')} ${content === undefined ? withheld : shown('reason')}`,
      };
    case 'session.finalized':
      return { kind: 'session', title: `${text('session_id')} sealed`, text: `${text('leaf_count')} records` };
    case 'observed':
      return describeObserved(entry, withheld);
    case 'observed.commit':
      return { kind: 'commit', title: `commit ${text('sha').slice(0, 12)}`, text: describeCommit(content, withheld) };
    case 'observed.coverage':
      return {
        kind: 'observed',
        title: 'coverage',
        text: `${text('recorded')} of ${text('seen')} calls of session ${text('session')} were recorded`,
        outcome: fields['recorded'] === fields['seen'] ? ['whole', 'good'] : ['gap', 'bad'],
      };
    case 'observed.usage':
      return {
        kind: 'observed',
        title: 'usage',
        text: `${count(fields['input_tokens'])} tokens in, ${count(fields['output_tokens'])} out of ${text('model')}`,
      };
    case 'genesis':
      return { kind: 'log', title: 'the log begins', text: text('ledger_id') };
    case 'key.added':
      return { kind: 'log', title: 'key introduced', text: text('key') };
    case 'project.options':
      return {
        kind: 'log',
        title: 'project options',
        text: content === undefined ? withheld : (disclosed?.text ?? ''),
      };
    case 'redaction':
      return {
        kind: 'log',
        title: 'redaction',
        text: `the content of entry ${text('redacts')} was removed: ${shown('reason') || disclosed?.text || withheld}`,
      };
  }
}

function describeCall(entry: BundleEntry, exit: BundleEntry | undefined, withheld: string): Description {
  const { fields, disclosed } = entry;
  const content = contentOf(entry);
  const named = content?.['task_id'] ?? content?.['id'];
  return {
    kind: 'call',
    title: textOf(fields['tool']),
    text: content === undefined ? (disclosed?.text ?? withheld) : argumentsText(content),
    outcome: outcomeOf(exit),
    ...(typeof named === 'string' && /^T-\d+$/.test(named) && { taskId: named }),
  };
}

function outcomeOf(exit: BundleEntry | undefined): readonly [string, 'good' | 'bad' | 'neutral'] {
  if (exit === undefined) return ['no end here', 'neutral'];
  if (exit.fields.kind === 'action.interrupted') return ['interrupted', 'bad'];
  const word = textOf(exit.fields['outcome']);
  return [word, word === 'ok' ? 'good' : 'bad'];
}

function argumentsText(content: Content): string {
  return Object.entries(content)
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join(', ');
}

/** States only what was reported: a command without an exit code neither passed nor failed. */
function describeObserved(entry: BundleEntry, withheld: string): Description {
  const { fields } = entry;
  const content = contentOf(entry);
  const shown = content?.['defect'] ?? content?.['command'] ?? content?.['path'] ?? content?.['input'];
  const code = fields['exit_code'];
  const hasFailed = fields['outcome'] === 'failed' || (code !== undefined && code !== 0);
  const word = code === undefined ? textOf(fields['outcome']) : `exit ${textOf(code)}`;
  return {
    kind: 'observed',
    title: textOf(fields['tool'] ?? fields['event']),
    text: content === undefined ? withheld : textOf(shown),
    ...(word !== '' && {
      outcome: [word, hasFailed ? 'bad' : word === 'unknown' ? 'neutral' : 'good'] as const,
    }),
  };
}

function describeCommit(content: Content | undefined, withheld: string): string {
  if (content === undefined) return withheld;
  const paths = Array.isArray(content['paths']) ? content['paths'].map(textOf) : [];
  return [content['branch'] === undefined ? '' : `on ${textOf(content['branch'])}`, paths.join(', ')].join(' ').trim();
}

/** A text as it is, anything else as JSON. */
export function textOf(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function count(value: Json | undefined): string {
  return Number(value).toLocaleString('en');
}
