import { canonicalize } from './canonical-json.ts';
import { isCanonicalPart, isCanonicalText } from './canonical-text.ts';
import {
  commitHash,
  digest,
  distinctListOf,
  type Fields,
  line,
  listOf,
  objectDefect,
  oneOf,
  optional,
  orNull,
  projectSlug,
  prose,
  visibleProse,
  wholeNumber,
} from './forms.ts';
import { parseJson } from './parse-json.ts';

/** The contents that digests of the log cover, as docs/proof-format.md states them. */

/** The states of each workflow. */
export const WORKFLOW_STATES = {
  board: ['backlog', 'todo', 'in_progress', 'blocked', 'review', 'done', 'cancelled'],
  pipeline: ['INIT', 'GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY', 'DONE', 'CANCELLED'],
} as const;

/** In rising order. */
export const PRIORITIES = ['low', 'normal', 'high', 'critical'] as const;

export const THOUGHT_TYPES = ['reflection', 'decision', 'discovery', 'risk', 'blockers'] as const;

/** The sign-off that a task needs before it is done: none, by an actor other than its holder, or by a person. */
export const REVIEW_POLICIES = ['none', 'other', 'person'] as const;

/** Enough to recognize a call by; whole documents have their own tables. */
export const MAX_ARGUMENTS_LENGTH = 4096;
export const CUT_ARGUMENTS_LENGTH = MAX_ARGUMENTS_LENGTH / 2;
export const MAX_METADATA_LENGTH = 16_384;
export const MAX_KEY_LENGTH = 256;

export const EXTRAS_FIELDS: Fields = {
  branch: optional(line(256)),
  commit_sha: optional(commitHash),
  tests_run: optional(listOf(line(512), 200)),
  blockers: optional(listOf(line(1000), 50)),
  metadata: optional({ says: `an object of at most ${MAX_METADATA_LENGTH} characters`, holds: isMetadata }),
};

const CUT_FIELDS: Fields = {
  cut: oneOf([true]),
  length: wholeNumber(MAX_ARGUMENTS_LENGTH + 1),
  sha256: digest,
  start: {
    says: `the first ${CUT_ARGUMENTS_LENGTH} characters`,
    holds: (value) => typeof value === 'string' && value.length === CUT_ARGUMENTS_LENGTH,
  },
};

export const SESSION_FIELDS: Fields = { auditor_id: line(128), reason: orNull(prose(1000)) };

export const THOUGHT_FIELDS: Fields = { type: oneOf(THOUGHT_TYPES), content: visibleProse(5000) };

export const MAX_REQUIRED_COMMANDS = 20;
export const MAX_COMMAND_LENGTH = 512;

const commandList = distinctListOf(line(MAX_COMMAND_LENGTH), MAX_REQUIRED_COMMANDS);

/** Every option may be absent, so that contents stay valid when options are added. */
export const OPTIONS_FIELDS: Fields = {
  project: projectSlug,
  review: optional(oneOf(REVIEW_POLICIES)),
  require_observed: optional({
    says: `${commandList.says}, and not empty`,
    holds: (value) => commandList.holds(value) && (value as readonly unknown[]).length > 0,
  }),
};

export const MAX_REASON_LENGTH = 1000;

export const REDACTION_FIELDS: Fields = { reason: line(MAX_REASON_LENGTH) };

/** The arguments of a call: any object, or the cut form of one that is too long. */
export function argumentsDefect(content: string): string | undefined {
  if (!isCanonicalText(content)) return NOT_CANONICAL;
  if (content.length > MAX_ARGUMENTS_LENGTH) return objectDefect(CUT_FIELDS, parseJson(content));
  return content.startsWith('{') ? undefined : 'is not an object';
}

/** True only if a part of an ASCII text has no `argumentsDefect`. */
export function areShortArguments(text: string, begin: number, end: number): boolean {
  return text[begin] === '{' && end - begin <= MAX_ARGUMENTS_LENGTH && isCanonicalPart(text, begin, end);
}

/** Decisions that follow one another mostly have the same branch, commit and tests. */
let lastExtras = '{}';

export function extrasDefect(content: string): string | undefined {
  if (content === lastExtras) return undefined;
  if (!isCanonicalText(content)) return NOT_CANONICAL;
  const defect = objectDefect(EXTRAS_FIELDS, parseJson(content));
  if (defect === undefined) lastExtras = content;
  return defect;
}

/** True only if a part of an ASCII text has no `extrasDefect`, because it repeats the extras that were checked last. */
export function areSameExtras(text: string, begin: number, end: number): boolean {
  return text.slice(begin, end) === lastExtras;
}

export function sessionDefect(session: { readonly auditor_id: unknown; readonly reason: unknown }): string | undefined {
  return objectDefect(SESSION_FIELDS, { auditor_id: session.auditor_id, reason: session.reason });
}

/** The same of its recorded text. */
export function sessionTextDefect(content: string): string | undefined {
  return isCanonicalText(content) ? objectDefect(SESSION_FIELDS, parseJson(content)) : NOT_CANONICAL;
}

export function thoughtDefect(thought: { readonly type: unknown; readonly content: unknown }): string | undefined {
  return objectDefect(THOUGHT_FIELDS, { type: thought.type, content: thought.content });
}

export function redactionDefect(content: string): string | undefined {
  return isCanonicalText(content) ? objectDefect(REDACTION_FIELDS, parseJson(content)) : NOT_CANONICAL;
}

export function projectOptionsDefect(content: string): string | undefined {
  return isCanonicalText(content) ? objectDefect(OPTIONS_FIELDS, parseJson(content)) : NOT_CANONICAL;
}

const NOT_CANONICAL = 'is not canonical JSON';

function isMetadata(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return (
    Object.keys(value).every((key) => key.length <= MAX_KEY_LENGTH) && canonicalize(value).length <= MAX_METADATA_LENGTH
  );
}
