import {
  argumentsDefect,
  extrasDefect,
  projectOptionsDefect,
  redactionDefect,
  sessionTextDefect,
  thoughtDefect,
} from '../content-grammar.ts';
import { type DigestLabel, type Entry, type EntryKind, storedDigest } from '../entry.ts';
import { thoughtHash } from '../hash-chain.ts';
import { observedContentDefect } from '../observed-grammar.ts';
import type { Disclosed } from './format.ts';
import { taskEventDefect } from './task-grammar.ts';

/** The field that has the digest of the content, and the label of that digest. */
export const CONTENT: Readonly<Partial<Record<EntryKind, readonly [field: string, label: DigestLabel]>>> = {
  'action.enter': ['arguments', 'arguments'],
  'task.created': ['task', 'task'],
  'task.updated': ['task', 'task'],
  'session.started': ['session', 'session'],
  thought: ['extras', 'extras'],
  'project.options': ['options', 'options'],
  redaction: ['reason', 'redaction'],
  observed: ['content', 'observed-content'],
  'observed.commit': ['content', 'observed-content'],
  'observed.coverage': ['content', 'observed-content'],
  'observed.usage': ['content', 'observed-content'],
};

/** Whether entries of this kind have content at all. */
export function hasContent(kind: EntryKind): boolean {
  return CONTENT[kind] !== undefined;
}

/** What is wrong with disclosed content; undefined if it is what the entry has digests of, in its grammar. */
export function disclosedDefect(entry: Entry, { salt, text, thought }: Disclosed): string | undefined {
  const [field, label] = CONTENT[entry.kind] ?? [];
  if (field === undefined || label === undefined) return 'discloses content, which its kind does not have';
  if (storedDigest(label, salt, text) !== entry[field]) return `does not have the digest of the disclosed ${field}`;
  if ((entry.kind === 'thought') !== (thought !== undefined))
    return 'discloses a thought for an entry of another kind, or omits the thought';
  const defect = grammarDefect(entry, text);
  if (defect !== undefined) return `discloses content that ${defect}`;
  if (thought === undefined) return undefined;
  const hashed = { task_id: entry['task_id'] as string, ...thought, recorded_at: entry.at, recorded_by: entry.actor };
  return thoughtHash(hashed) === entry['hash']
    ? thoughtDefect(thought)
    : 'does not have the hash of the disclosed thought';
}

function grammarDefect(entry: Entry, text: string): string | undefined {
  switch (entry.kind) {
    case 'action.enter':
      return argumentsDefect(text);
    case 'session.started':
      return sessionTextDefect(text);
    case 'thought':
      return extrasDefect(text);
    case 'project.options':
      return projectOptionsDefect(text);
    case 'redaction':
      return redactionDefect(text);
    case 'observed':
    case 'observed.commit':
    case 'observed.coverage':
    case 'observed.usage':
      return observedContentDefect(entry.kind, text);
    case 'task.created':
    case 'task.updated':
      return taskEventDefect(entry, text);
    default:
      return undefined;
  }
}
