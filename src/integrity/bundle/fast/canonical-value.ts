import { MAX_DEPTH } from '../../canonical-text.ts';
import { parseJson } from '../../parse-json.ts';
import { literalOf } from './byte-grammar.ts';
import { isDigit, MAX_DIGITS, withDigit, ZERO } from './bytes/digits.ts';
import { LIMIT } from './bytes/scratch.ts';
import { copy, decode } from './bytes/utf8-bytes.ts';
import type { Cursor } from './cursor.ts';

const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const LETTER_E = 0x65;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const LITERALS = [literalOf('null'), literalOf('true'), literalOf('false')];

/** No number has a longer canonical text. */
const MAX_NUMBER = 25;

/**
 * Takes any value in canonical JSON; `depth` counts the containers around it. The rules are those of `isCanonicalText`.
 */
export function takesValue(cursor: Cursor, depth: number): boolean {
  if (cursor.to > LIMIT) return false;
  switch (cursor.source.bytes[cursor.at]) {
    case BACKSLASH:
      return cursor.takesString();
    case OPEN_OBJECT:
      return depth < MAX_DEPTH && takesObject(cursor, depth);
    case OPEN_LIST:
      return depth < MAX_DEPTH && takesList(cursor, depth);
    default:
      return takesNumber(cursor) || cursor.takesOneOf(LITERALS) >= 0;
  }
}

function takesObject(cursor: Cursor, depth: number): boolean {
  cursor.takesByte(OPEN_OBJECT);
  if (cursor.takesByte(CLOSE_OBJECT)) return true;
  let [begin, end] = [-1, -1];
  do {
    const from = cursor.to;
    if (!cursor.takesString()) return false;
    if (begin >= 0 && !isBefore(cursor, begin, end, from)) return false;
    [begin, end] = [from, cursor.to];
    if (!cursor.takesByte(COLON) || !takesValue(cursor, depth + 1)) return false;
  } while (cursor.takesByte(COMMA));
  return cursor.takesByte(CLOSE_OBJECT);
}

/** Whether the key that was written there comes before the one that was written last. */
function isBefore({ target: { bytes: target }, to }: Cursor, begin: number, end: number, from: number): boolean {
  for (let place = 1; begin + place < end && from + place < to; place += 1) {
    const left = target[begin + place] as number;
    const right = target[from + place] as number;
    // Names are ordered by UTF-16 units and not by their escapes: bytes decide only between letters and digits.
    if (left === BACKSLASH) break;
    if (left === right) continue;
    if (isWord(left) && isWord(right)) return left < right;
    break;
  }
  return (parseJson(decode(target, begin, end)) as string) < (parseJson(decode(target, from, to)) as string);
}

/** A lower-case letter, a digit or an underscore, as most keys have. */
function isWord(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f || isDigit(byte);
}

function takesList(cursor: Cursor, depth: number): boolean {
  cursor.takesByte(OPEN_LIST);
  if (cursor.takesByte(CLOSE_LIST)) return true;
  do {
    if (!takesValue(cursor, depth + 1)) return false;
  } while (cursor.takesByte(COMMA));
  return cursor.takesByte(CLOSE_LIST);
}

export function takesNumber(cursor: Cursor): boolean {
  if (takeDigits(cursor) >= 0) return true;
  const { at } = cursor;
  const source = cursor.source.bytes;
  let end = at;
  while (isOfNumber(source[end] as number)) end += 1;
  if (end === at || end - at > MAX_NUMBER) return false;
  const digits = String.fromCharCode(...source.subarray(at, end));
  const value = Number(digits);
  if (String(value) !== digits || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false;
  cursor.to = copy(source, at, end, cursor.target.bytes, cursor.to);
  cursor.at = end;
  return true;
}

/** The value of a number of a few digits. For any other number -1, and nothing is taken. */
export function takeDigits(cursor: Cursor): number {
  const { at, to } = cursor;
  const source = cursor.source.bytes;
  const target = cursor.target.bytes;
  const first = source[at] as number;
  let value = 0;
  let length = 0;
  for (let byte = first; isDigit(byte) && length <= MAX_DIGITS; byte = source[at + length] as number) {
    value = withDigit(value, byte);
    target[to + length] = byte;
    length += 1;
  }
  if (length === 0 || length > MAX_DIGITS || (length > 1 && first === ZERO)) return -1;
  const next = source[at + length];
  if (next === POINT || next === LETTER_E) return -1;
  cursor.at = at + length;
  cursor.to = to + length;
  return value;
}

/** A digit, a sign, a point or the letter e. */
function isOfNumber(byte: number): boolean {
  return isDigit(byte) || byte === PLUS || byte === MINUS || byte === POINT || byte === LETTER_E;
}
