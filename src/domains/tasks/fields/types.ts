import * as z from 'zod';
import type { SqlValue } from '../../../db/database.ts';
import * as inputs from '../../../fields.ts';
import { taskId } from '../../../fields.ts';
import { formatTaskId, parseId } from '../../../ids.ts';
import * as forms from '../../../integrity/forms.ts';
import { parseJson } from '../../../integrity/index.ts';

/** A kind of value that the server sets. Methods, not properties: their parameters must stay bivariant for tables. */
export interface FieldType<Value = unknown, Stored extends SqlValue = SqlValue> {
  /** The grammar of the value in a recorded content; verification checks it. */
  readonly form: forms.Form;
  readonly output: z.ZodType;
  toColumn(value: Value): Stored;
  fromColumn(stored: Stored): Value;
}

/** A kind of value that a caller may set. Every accepted input must satisfy `form`. */
export interface InputType<Value = unknown, Stored extends SqlValue = SqlValue> extends FieldType<Value, Stored> {
  readonly input: z.ZodType<Value>;
}

export function line(max: number): InputType<string, string> {
  return { ...plain<string>(forms.line(max), z.string()), input: inputs.line(max) };
}

export function prose(max: number): InputType<string, string> {
  return { ...plain<string>(forms.prose(max), z.string()), input: inputs.prose(max) };
}

/** Any text in a recorded content: client names come from handshakes, and older ledgers hold U+0000 in them. */
export const actorName: InputType<string, string> = {
  ...plain<string>(forms.text, z.string()),
  input: inputs.line(128),
};

/** Stored as milliseconds. Only tampering stores something else; it is shown as it is, and verification reports it. */
export const time: FieldType<string, number> = {
  form: forms.time,
  output: z.string(),
  toColumn: (value) => Date.parse(value),
  fromColumn: (stored) => {
    const date = new Date(stored);
    return typeof stored === 'number' && !Number.isNaN(date.getTime()) ? date.toISOString() : String(stored);
  },
};

export function count(min: number): FieldType<number, number> {
  return plain(forms.wholeNumber(min), z.int());
}

export function number(min: number, max: number): InputType<number, number> {
  return { ...plain<number>(forms.number(min, max), z.number()), input: z.number().min(min).max(max) };
}

/** One of a few words, stored as text. */
export function oneOf<const Word extends string>(words: readonly Word[]): InputType<Word, Word> {
  return { ...plain<Word>(forms.oneOf(words), z.string()), input: z.enum(words) };
}

/** One of a few words in rising order, stored as its position, so that the database sorts by it. */
export function ranked<const Word extends string>(words: readonly Word[]): InputType<Word, number> {
  return {
    ...oneOf(words),
    toColumn: (word) => words.indexOf(word),
    fromColumn: (position) => words[position] as Word,
  };
}

export const projectSlug: InputType<string, string> = {
  ...plain<string>(forms.projectSlug, z.string()),
  input: z.string().refine(forms.isProjectSlug, 'is not a project slug: a-z, 0-9, ".", "_", "-", at most 64'),
};

/** The id of a task, stored as its number. */
export const taskReference: InputType<string, number> = {
  form: forms.taskId,
  input: taskId,
  output: z.string(),
  toColumn: parseId,
  fromColumn: formatTaskId,
};

/** Distinct texts, stored as JSON. */
export function list(item: InputType<string>, max: number): InputType<readonly string[], string> {
  return {
    form: forms.distinctListOf(item.form, max),
    input: z.array(item.input).max(max),
    output: z.array(item.output),
    toColumn: (values) => JSON.stringify(values),
    fromColumn: (stored) => parseJson(stored) as string[],
  };
}

/** Null in the content and in the column; answers omit the field. Whether callers may send null is up to the field. */
export function nullable<Value, Stored extends SqlValue>(
  type: InputType<Value, Stored>,
): InputType<Value | null, Stored | null> {
  return {
    form: forms.orNull(type.form),
    input: type.input,
    output: type.output.optional(),
    toColumn: (value) => (value === null ? null : type.toColumn(value)),
    fromColumn: (stored) => (stored === null ? null : type.fromColumn(stored)),
  };
}

function plain<Value extends SqlValue>(form: forms.Form, output: z.ZodType): FieldType<Value, Value> {
  return { form, output, toColumn: (value) => value, fromColumn: (stored) => stored };
}
