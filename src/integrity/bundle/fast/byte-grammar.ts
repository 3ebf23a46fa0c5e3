import type { Fields, Form, Items, Shape } from '../../forms.ts';
import { type Sample, sampleOf, wordsOf } from './bytes/scratch.ts';
import { utf8 } from './bytes/utf8-bytes.ts';

/**
 * The grammar of records, prepared for a reader of bytes that stand inside a string of JSON. A literal is kept as it
 * stands there, with its quotation marks escaped, and as the bytes that it stands for.
 */

export interface Literal {
  readonly escaped: Sample;
  /** What it stands for, four bytes at a time, with zeros at the end. */
  readonly plainWords: Int32Array;
  readonly plainLength: number;
}

/** How a value is read. Numbers, because the reader branches on them for every value. */
export const ANY = 0;
export const LITERAL = 1;
export const NULL_OR = 2;
export const LIST = 3;
export const OBJECT = 4;
export const WHOLE_NUMBER = 5;
export const CHARACTERS = 6;
export const ID = 7;
export const TIME = 8;
export const TEXT = 9;

/** Any that exists: what stands here counts as found to hold. */
const SOME_MINUTE = wordsOf(utf8('2026-04-08T22:15'));
export const MINUTE_WORDS = SOME_MINUTE.length;

/** So many items are compared with one another as bytes; in a longer list, the form decides. */
export const MAX_COMPARED = 8;

const NO_BYTES = new Uint8Array(0);

/** One class for all, so that the compiled reader meets one kind of object. */
export class Pattern {
  readonly op: number;
  readonly form: Form;
  /** The number of containers around the value. */
  readonly depth: number;
  // From infinity on, so that all patterns have one representation, also those without a limit.
  least = Number.NEGATIVE_INFINITY;
  most = Number.POSITIVE_INFINITY;
  /** See `Shape`; for a text. */
  breaks = false;
  visible = false;
  /** See `Items`; for a list. */
  items: Items = 'free';
  /** Where the first items of the list that was read last were written. */
  readonly itemsAt = new Int32Array(MAX_COMPARED);
  literals: readonly Literal[] = [];
  /** The place of the literal that was taken last. */
  taken = -1;
  /** By byte: 1 if it may stand in the value. */
  allowed: Uint8Array = NO_BYTES;
  /** The same by two bytes, little end first. */
  allowedPairs: Uint8Array = NO_BYTES;
  item: Pattern | undefined;
  fields: readonly FieldPattern[] = [];
  /** The last value that was found to hold. */
  accepted: Uint8Array = new Uint8Array(0);
  /** The minute of the last time that was found to hold, four bytes at a time. */
  minute: Int32Array = SOME_MINUTE;

  constructor(op: number, form: Form, depth: number) {
    this.op = op;
    this.form = form;
    this.depth = depth;
  }
}

/** A field of an object. Where its value was written last is kept here, unless it is constant; -1 if it was absent. */
export class FieldPattern {
  readonly name: string;
  readonly isOptional: boolean;
  /** Whether it has the same value always, which is then read with the key. */
  readonly isConstant: boolean;
  /** The key as the first of its object, and behind another one. */
  readonly first: Literal;
  readonly next: Literal;
  readonly value: Pattern;
  begin = -1;
  end = -1;

  constructor(name: string, isOptional: boolean, value: Pattern, constant: string | undefined) {
    this.name = name;
    this.isOptional = isOptional;
    this.value = value;
    this.isConstant = constant !== undefined;
    this.first = literalOf(`{${JSON.stringify(name)}:${constant ?? ''}`);
    this.next = literalOf(`,${JSON.stringify(name)}:${constant ?? ''}`);
  }
}

/** Where an entry about a task says about which one, when and by whom, which its content repeats or its hash covers. */
export interface EventFields {
  readonly bytes: Uint8Array;
  readonly task_id: FieldPattern;
  readonly at: FieldPattern;
  readonly actor: FieldPattern;
}

/** The pattern of an object with these fields that is not inside another value. */
export function compileObject(fields: Fields): Pattern {
  return compile({ says: '', holds: () => false, shape: { is: 'object', fields } }, 0);
}

/** Throws for a field that is not in the grammar, and for a constant one, whose place is not kept. */
export function fieldOf(pattern: Pattern, name: string): FieldPattern {
  const found = pattern.fields.find((field) => field.name === name && !field.isConstant);
  if (found === undefined) throw new Error(`no field ${name}`);
  return found;
}

export function literalOf(text: string): Literal {
  const plain = utf8(text);
  const escaped = sampleOf(JSON.stringify(text).slice(1, -1));
  return { escaped, plainWords: wordsOf(plain), plainLength: plain.length };
}

function compile(form: Form, depth: number): Pattern {
  const { shape } = form;
  if (shape === undefined) return new Pattern(ANY, form, depth);
  const pattern = new Pattern(OPS[shape.is], form, depth);
  switch (shape.is) {
    case 'literal':
      pattern.literals = shape.values.map((value) => literalOf(JSON.stringify(value)));
      break;
    case 'null or':
      pattern.item = compile(shape.form, depth);
      break;
    case 'list':
      pattern.item = compile(shape.form, depth + 1);
      pattern.items = shape.items;
      pattern.most = shape.most;
      break;
    case 'object':
      // The order of canonical JSON.
      pattern.fields = Object.entries(shape.fields)
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([name, field]) => compileField(name, field, depth + 1));
      break;
    case 'characters':
      [pattern.allowed, pattern.allowedPairs] = allow(shape.of);
      [pattern.least, pattern.most] = [shape.least, shape.most];
      break;
    case 'whole number':
      [pattern.least, pattern.most] = [shape.least, shape.most];
      break;
    case 'id':
      pattern.literals = [literalOf(`"${shape.prefix}`)];
      break;
    case 'text':
      [pattern.most, pattern.breaks, pattern.visible] = [shape.most, shape.breaks, shape.visible];
      break;
    case 'time':
      pattern.minute = SOME_MINUTE.slice();
      break;
  }
  return pattern;
}

function compileField(name: string, field: Fields[string], depth: number): FieldPattern {
  const { shape } = field;
  const values = shape?.is === 'literal' ? shape.values : [];
  const constant = values.length === 1 ? JSON.stringify(values[0]) : undefined;
  return new FieldPattern(name, field.optional === true, compile(field, depth), constant);
}

const allowedSets = new Map<string, readonly [Uint8Array, Uint8Array]>();

/** Patterns with the same characters share the tables, which then stay in the cache of the processor. */
function allow(characters: string): readonly [Uint8Array, Uint8Array] {
  const known = allowedSets.get(characters);
  if (known !== undefined) return known;
  const bytes = utf8(characters);
  const [allowed, pairs] = [new Uint8Array(2 ** 8), new Uint8Array(2 ** 16)];
  for (const byte of bytes) allowed[byte] = 1;
  for (const low of bytes) for (const high of bytes) pairs[low | (high << 8)] = 1;
  allowedSets.set(characters, [allowed, pairs]);
  return [allowed, pairs];
}

const OPS: Readonly<Record<Shape['is'], number>> = {
  literal: LITERAL,
  'null or': NULL_OR,
  list: LIST,
  object: OBJECT,
  'whole number': WHOLE_NUMBER,
  characters: CHARACTERS,
  id: ID,
  time: TIME,
  text: TEXT,
};
