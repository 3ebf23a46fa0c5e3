import { parseJson } from '../../parse-json.ts';
import { isTime } from '../../primitives/iso-time.ts';
import {
  CHARACTERS,
  type FieldPattern,
  ID,
  LIST,
  LITERAL,
  type Literal,
  literalOf,
  MAX_COMPARED,
  MINUTE_WORDS,
  NULL_OR,
  OBJECT,
  type Pattern,
  TEXT,
  TIME,
  WHOLE_NUMBER,
} from './byte-grammar.ts';
import { isDigit, withDigit, ZERO } from './bytes/digits.ts';
import { LIMIT, WORD } from './bytes/scratch.ts';
import { BREAKS, CONTROLS, type StringCopy } from './bytes/string-copy.ts';
import { decode, equal } from './bytes/utf8-bytes.ts';
import { takeDigits, takesNumber, takesValue } from './canonical-value.ts';
import type { Cursor } from './cursor.ts';

const SPACE = 0x20;
const COMMA = 0x2c;
const POINT = 0x2e;
const COLON = 0x3a;
const LETTER_Z = 0x5a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;
const DELETE = 0x7f;

const NULL = literalOf('null');
const EMPTY_OBJECT = literalOf('{}');
const EMPTY_LIST = literalOf('[]');

/** The digits of an id. */
const [FEWEST_DIGITS, MOST_DIGITS] = [4, 12];
const TIME_WORDS = '2026-04-08T22:15:30.000Z'.length / WORD;

/**
 * Takes a value of this pattern, or stops anywhere and returns false. Accepts canonical JSON of values for which the
 * form holds, or less, and never more: a caller that gets false asks the reference.
 */
export function takesPattern(cursor: Cursor, pattern: Pattern): boolean {
  if (cursor.to > LIMIT) return false;
  switch (pattern.op) {
    case LITERAL:
      pattern.taken = cursor.takesOneOf(pattern.literals);
      return pattern.taken >= 0;
    case NULL_OR:
      return cursor.takes(NULL) || takesPattern(cursor, pattern.item as Pattern);
    case LIST:
      return takesList(cursor, pattern);
    case OBJECT:
      return takesObject(cursor, pattern.fields);
    case WHOLE_NUMBER:
      return takesWholeNumber(cursor, pattern);
    case CHARACTERS:
      return takesCharacters(cursor, pattern);
    case ID:
      return takesId(cursor, pattern);
    case TIME:
      return takesTime(cursor, pattern);
    case TEXT:
      return takesText(cursor, pattern);
    default:
      return takesAny(cursor, pattern);
  }
}

/** The fields of canonical JSON are in the order of their names, each at most once. */
function takesObject(cursor: Cursor, fields: readonly FieldPattern[]): boolean {
  let isFirst = true;
  for (let place = 0; place < fields.length; place += 1) {
    const field = fields[place] as FieldPattern;
    if (!cursor.takes(isFirst ? field.first : field.next)) {
      if (!field.isOptional) return false;
      field.begin = -1;
      continue;
    }
    isFirst = false;
    if (field.isConstant) continue;
    field.begin = cursor.to;
    if (!takesPattern(cursor, field.value)) return false;
    field.end = cursor.to;
  }
  return isFirst ? cursor.takes(EMPTY_OBJECT) : cursor.takesByte(CLOSE_OBJECT);
}

function takesList(cursor: Cursor, pattern: Pattern): boolean {
  const begin = cursor.to;
  if (cursor.takes(EMPTY_LIST)) return true;
  if (!cursor.takesByte(OPEN_LIST)) return false;
  let count = 0;
  do {
    if (count < MAX_COMPARED) pattern.itemsAt[count] = cursor.to;
    if (!takesPattern(cursor, pattern.item as Pattern)) return false;
    count += 1;
  } while (cursor.takesByte(COMMA));
  if (!cursor.takesByte(CLOSE_LIST) || count > pattern.most) return false;
  if (count === 1 || pattern.items === 'free') return true;
  if (pattern.items === 'distinct' && count <= MAX_COMPARED) return areDistinct(cursor, pattern.itemsAt, count);
  return holds(cursor, pattern, begin);
}

/** Whether no item of the list that ends here is there twice. Canonical JSON has one text for each. */
function areDistinct({ target, to }: Cursor, itemsAt: Int32Array, count: number): boolean {
  for (let right = 1; right < count; right += 1) {
    const begin = itemsAt[right] as number;
    const end = (right + 1 < count ? (itemsAt[right + 1] as number) : to) - 1;
    for (let left = 0; left < right; left += 1) {
      const other = itemsAt[left] as number;
      // Behind an item stands a comma or a bracket.
      const otherEnd = (itemsAt[left + 1] as number) - 1;
      if (otherEnd - other === end - begin && equal(target.bytes, begin, end, target.bytes, other)) return false;
    }
  }
  return true;
}

function takesWholeNumber(cursor: Cursor, pattern: Pattern): boolean {
  const begin = cursor.to;
  const value = takeDigits(cursor);
  if (value >= 0) return value >= pattern.least && value <= pattern.most;
  return takesNumber(cursor) && holds(cursor, pattern, begin);
}

function takesCharacters(cursor: Cursor, { allowed, allowedPairs, least, most }: Pattern): boolean {
  if (!cursor.takesQuote()) return false;
  const { bytes: source, words: sourceWords } = cursor.source;
  const { bytes: target, words: targetWords } = cursor.target;
  const end = cursor.to + most;
  let { at, to } = cursor;
  while (to < end) {
    const word = sourceWords.getInt32(at, true);
    if (allowedPairs[word & 0xffff] !== 1 || allowedPairs[word >>> 16] !== 1) break;
    targetWords.setInt32(to, word, true);
    at += WORD;
    to += WORD;
  }
  for (let byte = source[at] as number; allowed[byte] === 1 && to <= end; byte = source[at] as number) {
    target[to] = byte;
    at += 1;
    to += 1;
  }
  const length = to - cursor.to;
  cursor.at = at;
  cursor.to = to;
  return length >= least && length <= most && cursor.takesQuote();
}

function takesId(cursor: Cursor, pattern: Pattern): boolean {
  if (!cursor.takes(pattern.literals[0] as Literal)) return false;
  const source = cursor.source.bytes;
  const target = cursor.target.bytes;
  let { at, to } = cursor;
  let value = 0;
  for (let byte = source[at] as number; isDigit(byte); byte = source[at] as number) {
    value = withDigit(value, byte);
    target[to] = byte;
    at += 1;
    to += 1;
  }
  const digits = to - cursor.to;
  // Zeros stand before it only up to four digits.
  const hasOneText = digits === FEWEST_DIGITS ? value > 0 : digits > FEWEST_DIGITS && source[cursor.at] !== ZERO;
  cursor.at = at;
  cursor.to = to;
  return hasOneText && digits <= MOST_DIGITS && cursor.takesQuote();
}

function takesTime(cursor: Cursor, { minute }: Pattern): boolean {
  if (!cursor.takesQuote()) return false;
  const { at, to } = cursor;
  const { bytes: source, words: sourceWords } = cursor.source;
  const { words: targetWords } = cursor.target;
  let isSameMinute = true;
  for (let place = 0; place < TIME_WORDS; place += 1) {
    const word = sourceWords.getInt32(at + place * WORD, true);
    targetWords.setInt32(to + place * WORD, word, true);
    if (place < MINUTE_WORDS && word !== minute[place]) isSameMinute = false;
  }
  cursor.at = at + TIME_WORDS * WORD;
  cursor.to = to + TIME_WORDS * WORD;
  if (!cursor.takesQuote()) return false;
  // Entries that follow one another mostly have the same minute.
  if (isSameMinute && isSecond(source, at + MINUTE_WORDS * WORD)) return true;
  if (!isTime(String.fromCharCode(...source.subarray(at, at + TIME_WORDS * WORD)))) return false;
  for (let place = 0; place < MINUTE_WORDS; place += 1) minute[place] = sourceWords.getInt32(at + place * WORD, true);
  return true;
}

/** Whether the rest of a time is there: ":30.000Z". */
function isSecond(source: Uint8Array, at: number): boolean {
  return (
    source[at] === COLON &&
    isDigit(source[at + 1] as number) &&
    (source[at + 1] as number) < ZERO + 6 &&
    isDigit(source[at + 2] as number) &&
    source[at + 3] === POINT &&
    isDigit(source[at + 4] as number) &&
    isDigit(source[at + 5] as number) &&
    isDigit(source[at + 6] as number) &&
    source[at + 7] === LETTER_Z
  );
}

function takesText(cursor: Cursor, pattern: Pattern): boolean {
  const begin = cursor.to;
  if (!cursor.takesString()) return false;
  return isPlain(pattern, cursor.text, cursor.target.bytes, begin + 1) || holds(cursor, pattern, begin);
}

/** Whether a text that was copied to `begin` is one for which the form holds for sure. */
export function isPlain(pattern: Pattern, { seen, extra, to }: StringCopy, target: Uint8Array, begin: number): boolean {
  if ((seen & (pattern.breaks ? CONTROLS : CONTROLS | BREAKS)) !== 0) return false;
  // At least the number of code points, because each has a byte or more.
  if (to - begin - extra > pattern.most) return false;
  if (!pattern.visible) return true;
  const first = target[begin] as number;
  return to > begin && first < DELETE && first !== SPACE && first !== BACKSLASH;
}

function takesAny(cursor: Cursor, pattern: Pattern): boolean {
  const begin = cursor.to;
  if (!takesValue(cursor, pattern.depth)) return false;
  const { accepted } = pattern;
  const length = cursor.to - begin;
  // Entries that follow one another mostly have the same process, recorder or branch.
  if (accepted.length === length && equal(accepted, 0, length, cursor.target.bytes, begin)) return true;
  if (!holds(cursor, pattern, begin)) return false;
  pattern.accepted = cursor.target.bytes.slice(begin, cursor.to);
  return true;
}

/** Asks the form about the value that was written last, beginning there. */
function holds({ target, to }: Cursor, { form }: Pattern, begin: number): boolean {
  return form.holds(parseJson(decode(target.bytes, begin, to)));
}
