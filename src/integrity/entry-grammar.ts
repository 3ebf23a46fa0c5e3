import { ENTRY_KINDS, type Entry, type EntryKind } from './entry.ts';
import {
  digest,
  type Fields,
  type Form,
  objectDefect,
  oneOf,
  optional,
  person,
  sessionId,
  shaped,
  signature,
  taskId,
  text,
  thoughtId,
  time,
  uuid,
  verifierKey,
  wholeNumber,
} from './forms.ts';
import { OBSERVED_FIELDS } from './observed-grammar.ts';
import { isOutcome, OUTCOMES } from './outcomes.ts';

export const SCOPES = ['shallow', 'deep'] as const;

/** The fields of each kind of entry, as docs/proof-format.md states them. */
export const ENTRY_GRAMMAR: Readonly<Record<EntryKind, Fields>> = {
  genesis: entryOf('genesis', {
    ledger_id: uuid,
    continues: optional(shaped({ ledger_id: uuid, leaf: digest, size: wholeNumber(1), root: digest })),
  }),
  'action.enter': entryOf('action.enter', { tool: text, arguments: digest, process_id: uuid }),
  'action.exit': entryOf('action.exit', {
    sequence_no: wholeNumber(1),
    outcome: { says: 'ok or the code of a failure', holds: isOutcome, shape: { is: 'literal', values: OUTCOMES } },
    duration_ms: wholeNumber(0),
    answer: digest,
  }),
  'action.interrupted': entryOf('action.interrupted', { sequence_no: wholeNumber(1) }),
  'task.created': taskEvent('task.created'),
  'task.updated': taskEvent('task.updated'),
  'session.started': entryOf('session.started', {
    session_id: sessionId,
    task_id: taskId,
    scope: oneOf(SCOPES),
    session: digest,
  }),
  thought: entryOf('thought', {
    thought_id: thoughtId,
    task_id: taskId,
    hash: digest,
    extras: digest,
    chain_position: wholeNumber(1),
    attempt: wholeNumber(1),
    session_id: sessionId,
    session_seq: wholeNumber(1),
  }),
  'session.finalized': entryOf('session.finalized', {
    session_id: sessionId,
    root: digest,
    leaf_count: wholeNumber(1),
    heads: risingBy('task_id', { task_id: taskId, chain_position: wholeNumber(1), hash: digest }),
    task_id: optional(taskId),
  }),
  // No tool sets them: only a person can.
  'project.options': entryOf('project.options', { actor: person, options: digest }),
  'key.added': entryOf('key.added', {
    key: verifierKey,
    signature,
    replaces: optional(verifierKey),
    replaces_signature: optional(signature),
  }),
  // No tool removes content: only a person can.
  redaction: entryOf('redaction', {
    actor: person,
    redacts: wholeNumber(1),
    reason: digest,
    remains: optional(digest),
  }),
  observed: entryOf('observed', OBSERVED_FIELDS.observed),
  'observed.commit': entryOf('observed.commit', OBSERVED_FIELDS['observed.commit']),
  'observed.coverage': entryOf('observed.coverage', OBSERVED_FIELDS['observed.coverage']),
  'observed.usage': entryOf('observed.usage', OBSERVED_FIELDS['observed.usage']),
};

/** What is wrong with an entry by itself; undefined when it is one of the grammar. */
export function entryDefect(entry: Entry): string | undefined {
  if (!ENTRY_KINDS.includes(entry.kind)) return 'has an unknown kind';
  return objectDefect(ENTRY_GRAMMAR[entry.kind], entry);
}

function entryOf(kind: EntryKind, fields: Fields): Fields {
  return { v: oneOf([1]), kind: oneOf([kind]), at: time, actor: text, ...fields };
}

function taskEvent(kind: EntryKind): Fields {
  const sessions = risingBy('session_id', { session_id: sessionId, session_seq: wholeNumber(1) });
  return entryOf(kind, { task_id: taskId, task: digest, sessions });
}

/** A list of objects with the same fields, in the order of the numbers in their ids. */
function risingBy(id: string, fields: Fields): Form {
  return {
    says: `a list of {${Object.keys(fields).join(', ')}} by rising ${id}`,
    holds: (list) =>
      Array.isArray(list) &&
      list.every((item) => objectDefect(fields, item) === undefined) &&
      list.every((item, place) => place === 0 || numberIn(list[place - 1], id) < numberIn(item, id)),
    shape: { is: 'list', form: shaped(fields), most: Number.POSITIVE_INFINITY, items: 'related' },
  };
}

function numberIn(item: unknown, id: string): number {
  return Number(String((item as Record<string, unknown>)[id]).slice(2));
}
