import { isDigest } from './merkle.ts';
import { isTime } from './primitives/iso-time.ts';

/** What a value in a record must look like. */
export interface Form {
  /** Completes "is not …". */
  readonly says: string;
  readonly holds: (value: unknown) => boolean;
  /** Set if people or agents write the value in their own words, which redaction removes. Names and states are not. */
  readonly isFreeText?: true;
  /** What fits it holds for sure; `holds` decides about the rest, and without a shape about every value. */
  readonly shape?: Shape;
}

/** Values that a form accepts, described so that a reader of bytes recognizes most of them without parsing. */
export type Shape =
  | { readonly is: 'literal'; readonly values: readonly unknown[] }
  | { readonly is: 'null or'; readonly form: Form }
  | { readonly is: 'list'; readonly form: Form; readonly most: number; readonly items: Items }
  | { readonly is: 'object'; readonly fields: Fields }
  | { readonly is: 'whole number'; readonly least: number; readonly most: number }
  | { readonly is: 'characters'; readonly of: string; readonly least: number; readonly most: number }
  | { readonly is: 'id'; readonly prefix: string }
  | { readonly is: 'time' }
  /** Without control characters other than tabs and line breaks; if visible, it begins with a visible one of ASCII. */
  | { readonly is: 'text'; readonly most: number; readonly breaks: boolean; readonly visible: boolean };

/** What the form of a list says about its items beside the form of each: nothing, that none is there twice, or more. */
export type Items = 'free' | 'distinct' | 'related';

/** A field of an object; `optional` fields may be absent, and no field may be there that is not named. */
export type Fields = Readonly<Record<string, Form & { readonly optional?: true }>>;

export function optional(form: Form): Form & { readonly optional: true } {
  return { ...form, optional: true };
}

/** The first defect of an object; undefined when it has exactly these fields, each of its form. */
export function objectDefect(fields: Fields, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'is not an object';
  const forms = formsOf(fields);
  const names = Object.keys(value);
  const values: readonly unknown[] = Object.values(value);
  for (let place = 0; place < names.length; place += 1) {
    const name = names[place] as string;
    const form = forms.get(name);
    if (form === undefined) return `has the unknown field ${JSON.stringify(name.slice(0, MAX_SHOWN))}`;
    if (!form.holds(values[place])) return `has a ${name} that is not ${form.says}`;
  }
  if (names.length === forms.size) return undefined;
  const missing = Object.keys(fields).find((name) => !Object.hasOwn(value, name) && fields[name]?.optional !== true);
  return missing === undefined ? undefined : `has no field ${missing}`;
}

const formsByName = new WeakMap<Fields, ReadonlyMap<string, Form>>();

/** Verification looks up every field of every record: a map is twice as fast as an object. */
function formsOf(fields: Fields): ReadonlyMap<string, Form> {
  const known = formsByName.get(fields);
  if (known !== undefined) return known;
  const forms = new Map<string, Form>(Object.entries(fields));
  formsByName.set(fields, forms);
  return forms;
}

const MAX_SHOWN = 64;

/** An object with exactly these fields. */
export function shaped(fields: Fields): Form {
  return {
    says: `{${Object.keys(fields).join(', ')}}`,
    holds: (value) => objectDefect(fields, value) === undefined,
    shape: { is: 'object', fields },
  };
}

export function oneOf(values: readonly unknown[]): Form {
  return {
    says: values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`,
    holds: (value) => values.includes(value),
    shape: { is: 'literal', values },
  };
}

export function orNull(form: Form): Form {
  return {
    ...form,
    says: `null or ${form.says}`,
    holds: (value) => value === null || form.holds(value),
    shape: { is: 'null or', form },
  };
}

/** A whole number that JSON carries exactly. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Form {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return {
    says: `a whole number ${range}`,
    holds: (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
    shape: { is: 'whole number', least, most },
  };
}

export function number(least: number, most: number): Form {
  return {
    says: `a number from ${least} to ${most}`,
    holds: (value) => typeof value === 'number' && value >= least && value <= most,
    shape: { is: 'whole number', least, most },
  };
}

export function listOf(form: Form, most: number): Form {
  return {
    ...form,
    says: `a list of at most ${most}, each ${form.says}`,
    holds: (value) => Array.isArray(value) && value.length <= most && value.every(form.holds),
    shape: { is: 'list', form, most, items: 'free' },
  };
}

/** A list of texts, none of them twice. */
export function distinctListOf(form: Form, most: number): Form {
  const list = listOf(form, most);
  return {
    ...list,
    says: `${list.says} and none twice`,
    holds: (value) => list.holds(value) && new Set(value as string[]).size === (value as string[]).length,
    shape: { is: 'list', form, most, items: 'distinct' },
  };
}

/** Accepts the empty text too, and U+0000, which ledgers of earlier versions on SQLite hold. */
export const text: Form = {
  says: 'a text',
  holds: (value) => typeof value === 'string',
  shape: { is: 'text', most: Number.POSITIVE_INFINITY, breaks: true, visible: false },
};

/** C0, DEL and C1, the category Cc of Unicode, which never changes. */
const CONTROL = /\p{Cc}/u;
const CONTROL_IN_PROSE = /(?![\n\r\t])\p{Cc}/u;

/** Most prose has none at all, which the simpler expression finds out in a fraction of the time. */
function hasControlInProse(value: string): boolean {
  return CONTROL.test(value) && CONTROL_IN_PROSE.test(value);
}

/** Code points, as JSON Schema and Zod count them: the limits of the tools are the limits of the records. */
function isLonger(value: string, most: number): boolean {
  if (value.length <= most) return false;
  if (value.length > 2 * most) return true;
  let points = 0;
  for (const _point of value) points += 1;
  return points > most;
}

/** White space as ECMAScript has it, which is the same in every Node; what else is invisible changes with Unicode. */
const VISIBLE = /\S/;

export function line(most: number): Form {
  return {
    says: `a text of 1 to ${most} characters without control characters and not only white space`,
    holds: (value) =>
      typeof value === 'string' && VISIBLE.test(value) && !isLonger(value, most) && !CONTROL.test(value),
    isFreeText: true,
    shape: { is: 'text', most, breaks: false, visible: true },
  };
}

export function prose(most: number): Form {
  return {
    says: `a text of at most ${most} characters with no control characters but tabs and line breaks`,
    holds: (value) => typeof value === 'string' && !isLonger(value, most) && !hasControlInProse(value),
    isFreeText: true,
    shape: { is: 'text', most, breaks: true, visible: false },
  };
}

/** Prose that says something. */
export function visibleProse(most: number): Form {
  const any = prose(most);
  return {
    ...any,
    says: `${any.says} and not only white space`,
    holds: (value) => any.holds(value) && VISIBLE.test(value as string),
    shape: { is: 'text', most, breaks: true, visible: true },
  };
}

export const digest: Form = { says: '64 lower-case hexadecimal digits', holds: isDigest, shape: hexDigits(64) };

/** 16 bytes in hexadecimal. */
export const digits32: Form = matching('32 lower-case hexadecimal digits', /^[0-9a-f]{32}$/, hexDigits(32));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const uuid: Form = matching('a random UUID in lower case', UUID);

const slugShape = characters('abcdefghijklmnopqrstuvwxyz0123456789._-', 1, 64);
export const projectSlug: Form = matching('a project slug', /^[a-z0-9._-]{1,64}$/, slugShape);

const HASH = /^[0-9a-f]{7,64}$/i;
const hashShape = characters('0123456789abcdefABCDEF', 7, 64);
export const commitHash: Form = matching('a commit hash of 7 to 64 hexadecimal digits', HASH, hashShape);

/** A public key of a log as C2SP signed notes have it. Whether it is a sound one, the rules between entries say. */
export const verifierKey: Form = matching('a verifier key', /^[!-*,-~]{1,256}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/);

/** An Ed25519 signature in base64. */
export const signature: Form = matching('a signature of 64 bytes in base64', /^[A-Za-z0-9+/]{86}==$/);

/** People are recorded under a prefix that no client can have. */
export const PERSON_PREFIX = 'person:';
export const person: Form = {
  says: `the name of a person (${PERSON_PREFIX}…)`,
  holds: (value) => typeof value === 'string' && value.length > PERSON_PREFIX.length && value.startsWith(PERSON_PREFIX),
};

export const isPerson = person.holds;
export const isUuid = uuid.holds;
export const isProjectSlug = projectSlug.holds;

export const taskId = idForm('T-');
export const sessionId = idForm('A-');
export const thoughtId = idForm('Θ-');

export const isTaskId = taskId.holds;
export const isSessionId = sessionId.holds;

export const time: Form = {
  says: 'a time in ISO-8601 UTC with milliseconds',
  holds: isTime,
  shape: { is: 'time' },
};

/** Each number from 1 has exactly one text, so that ids can be compared as text. */
function idForm(prefix: string): Form {
  const pattern = new RegExp(`^${prefix}(?!0000$)(?:0\\d{3}|[1-9]\\d{3,11})$`);
  return matching(`an id such as ${prefix}0042`, pattern, { is: 'id', prefix });
}

function characters(of: string, least: number, most: number): Shape {
  return { is: 'characters', of, least, most };
}

function hexDigits(count: number): Shape {
  return characters('0123456789abcdef', count, count);
}

function matching(says: string, pattern: RegExp, shape?: Shape): Form {
  const holds = (value: unknown) => typeof value === 'string' && pattern.test(value);
  return { says, holds, ...(shape !== undefined && { shape }) };
}
