import { EXTRAS_FIELDS, OPTIONS_FIELDS, REDACTION_FIELDS, SESSION_FIELDS } from '../../content-grammar.ts';
import { ENTRY_KINDS, type EntryKind } from '../../entry.ts';
import { ENTRY_GRAMMAR } from '../../entry-grammar.ts';
import type { Fields } from '../../forms.ts';
import { OBSERVED_CONTENT } from '../../observed-grammar.ts';
import { CONTENT, hasContent } from '../disclosed.ts';
import { compileObject, type FieldPattern, fieldOf, type Pattern } from './byte-grammar.ts';
import { utf8 } from './bytes/utf8-bytes.ts';
import { compileTask, type TaskPattern } from './task-rules.ts';

/** How the entries of a kind are read, and the content that they have a digest of. */
export interface KindPattern {
  readonly kind: EntryKind;
  /** Its place in the list of kinds. */
  readonly ordinal: number;
  readonly hasContent: boolean;
  /** Whether findings are about such entries one by one. */
  readonly isSpecial: boolean;
  readonly entry: Pattern;
  readonly at: FieldPattern;
  readonly actor: FieldPattern;
  readonly content: ContentPattern | undefined;
  /** Set for a thought and a task event. */
  readonly record: RecordPattern | undefined;
  /** Set for the seal of a session. */
  readonly seal: SealPattern | undefined;
}

export interface ContentPattern {
  /** The field of the entry that has the digest. */
  readonly digest: FieldPattern;
  /** What is hashed before the salt. */
  readonly label: Uint8Array;
  /** Undefined for the arguments of a call, which are any object. */
  readonly pattern: Pattern | undefined;
}

export interface RecordPattern {
  readonly task_id: FieldPattern;
  /** Set for a task event. */
  readonly event: { readonly sessions: FieldPattern; readonly task: TaskPattern } | undefined;
  /** Set for a thought. */
  readonly link: LinkPattern | undefined;
}

export interface LinkPattern {
  readonly session_id: FieldPattern;
  readonly chain_position: FieldPattern;
  readonly hash: FieldPattern;
}

export interface SealPattern {
  readonly session_id: FieldPattern;
  /** Absent if the seal is about all records of the session. */
  readonly task_id: FieldPattern;
  readonly leaf_count: FieldPattern;
  readonly root: FieldPattern;
}

const SPECIAL: ReadonlySet<EntryKind> = new Set(['genesis', 'key.added', 'redaction']);

let compiled: readonly KindPattern[] | undefined;

/** Compiled on first use: that takes longer than to load the rest of the library. */
export function kindPatterns(): readonly KindPattern[] {
  compiled ??= compileKinds();
  return compiled;
}

export function patternOf(kind: EntryKind): KindPattern {
  return kindPatterns()[ENTRY_KINDS.indexOf(kind)] as KindPattern;
}

function compileKinds(): readonly KindPattern[] {
  const task = compileTask();
  const contents: Readonly<Partial<Record<EntryKind, Pattern>>> = {
    'task.created': task.pattern,
    'task.updated': task.pattern,
    ...compileAll({
      'session.started': SESSION_FIELDS,
      thought: EXTRAS_FIELDS,
      'project.options': OPTIONS_FIELDS,
      redaction: REDACTION_FIELDS,
      ...OBSERVED_CONTENT,
    }),
  };
  return ENTRY_KINDS.map((kind, ordinal) => {
    const entry = compileObject(ENTRY_GRAMMAR[kind]);
    return {
      kind,
      ordinal,
      hasContent: hasContent(kind),
      isSpecial: SPECIAL.has(kind),
      entry,
      at: fieldOf(entry, 'at'),
      actor: fieldOf(entry, 'actor'),
      content: contentOf(kind, entry, contents[kind]),
      record: recordOf(kind, entry, task),
      seal: sealOf(kind, entry),
    };
  });
}

function contentOf(kind: EntryKind, entry: Pattern, pattern: Pattern | undefined): ContentPattern | undefined {
  const [field, label] = CONTENT[kind] ?? [];
  if (field === undefined) return undefined;
  return { digest: fieldOf(entry, field), label: utf8(`colibri:${label}:v1\n`), pattern };
}

function recordOf(kind: EntryKind, entry: Pattern, task: TaskPattern): RecordPattern | undefined {
  if (kind !== 'thought' && kind !== 'task.created' && kind !== 'task.updated') return undefined;
  const of = (name: string) => fieldOf(entry, name);
  const task_id = of('task_id');
  if (kind !== 'thought') return { task_id, event: { sessions: of('sessions'), task }, link: undefined };
  const link = { session_id: of('session_id'), chain_position: of('chain_position'), hash: of('hash') };
  return { task_id, event: undefined, link };
}

function sealOf(kind: EntryKind, entry: Pattern): SealPattern | undefined {
  if (kind !== 'session.finalized') return undefined;
  const of = (name: string) => fieldOf(entry, name);
  return { session_id: of('session_id'), task_id: of('task_id'), leaf_count: of('leaf_count'), root: of('root') };
}

function compileAll(grammars: Readonly<Partial<Record<EntryKind, Fields>>>): Partial<Record<EntryKind, Pattern>> {
  return Object.fromEntries(Object.entries(grammars).map(([kind, fields]) => [kind, compileObject(fields)]));
}
