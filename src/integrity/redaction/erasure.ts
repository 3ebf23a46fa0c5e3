import { TASK_GRAMMAR } from '../bundle/task-grammar.ts';
import { canonicalize } from '../canonical-json.ts';
import type { Entry, EntryKind, Salt } from '../entry.ts';
import type { Fields } from '../forms.ts';
import { parseJson } from '../parse-json.ts';
import type { Digest } from '../sha256.ts';

/**
 * An entry that says who has removed the content of an earlier one. Not an interface: programs with laxer settings
 * compile it, too.
 */
export type Redaction = Entry & {
  /** The index of the entry whose content is gone. */
  readonly redacts: number;
  /** Digest of the reason. */
  readonly reason: Digest;
  /** For a task event, the digest of what remains of the task. */
  readonly remains?: Digest;
};

/** Placeholder for a salt. It is well-formed, so that readers of salts need no special case, and reveals nothing. */
export const ERASED_SALT: Salt = '0'.repeat(32);

/** The type of a redacted thought: the type is hashed together with the text, so nothing proves it any longer. */
export const REDACTED_TYPE = 'thought';

/** Placeholder for a text. It is derived from the entry, so a verifier accepts no other. */
export function redactionNote({ actor, at }: Pick<Entry, 'actor' | 'at'>): string {
  return `[redacted by ${actor} on ${at.slice(0, '2026-04-08'.length)}]`;
}

/** Placeholder for the content of each kind, valid for that kind. A task keeps what is not free text. */
const ERASED_CONTENTS = {
  'action.enter': (note) => ({ redacted: note }),
  thought: () => ({}),
  'session.started': (note) => ({ auditor_id: note, reason: note }),
  redaction: (note) => ({ reason: note }),
  observed: (note) => ({ defect: note }),
  'observed.commit': (note) => ({ paths: [note] }),
  'observed.coverage': (note) => ({ defect: note, missing: [] }),
} as const satisfies Partial<Record<EntryKind, (note: string) => object>>;

export type ErasableKind = keyof typeof ERASED_CONTENTS;

/** Whether nothing of the content of this kind stays. */
export function isErasable(kind: EntryKind): kind is ErasableKind {
  return Object.hasOwn(ERASED_CONTENTS, kind);
}

/** Whether the content of this kind can be redacted. The options of a project are rules, which must stay known. */
export function isRedactable(kind: EntryKind): boolean {
  return isErasable(kind) || kind === 'task.created' || kind === 'task.updated';
}

export function erasedContent(kind: ErasableKind, note: string): string {
  return canonicalize(ERASED_CONTENTS[kind](note));
}

/**
 * The content of a task without its free text. The rest stays: the states, names and numbers on which the rules between
 * entries rest. Which fields are free text follows from their forms.
 */
export function withoutText(content: string, note: string, grammar: Fields = TASK_GRAMMAR): string {
  const task = { ...(parseJson(content) as Record<string, unknown>) };
  for (const [name, form] of Object.entries(grammar)) {
    if (!form.isFreeText) continue;
    // A note may be longer than the form of a field allows that was added later, so such a field is omitted.
    if (form.optional) delete task[name];
    else task[name] = withoutValue(task[name], note);
  }
  return canonicalize(task);
}

function withoutValue(value: unknown, note: string): unknown {
  if (Array.isArray(value)) return [];
  return value === null || value === '' ? value : note;
}

/** Whether a recorded task has no free text but the note. */
export function isWithoutText(content: string, note: string): boolean {
  return withoutText(content, note) === content;
}
