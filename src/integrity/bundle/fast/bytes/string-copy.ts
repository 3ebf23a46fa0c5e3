import { LIMIT, type Scratch, WORD } from './scratch.ts';
import { wideLength } from './utf8-bytes.ts';

/** Copies the text of a string in canonical JSON up to its end. Refuses text that is not canonical, or not UTF-8. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const DELETE = 0x7f;

/**
 * What a text has beside the visible characters of ASCII and spaces: tabs and line breaks, other control characters
 * (the category Cc of Unicode), or any character beyond those.
 */
export const BREAKS = 1;
export const CONTROLS = 2;
export const WIDE = 4;

/** Where a copy begins, then where it ended, and what was in it. */
export interface StringCopy {
  at: number;
  to: number;
  seen: number;
  /** How many bytes more the escapes have than the characters that they stand for. */
  extra: number;
}

/** A string inside a string, such as `\"say \\\"ho\\\"\"`: copies `say \"ho\"`. */
export function copyInnerString(from: Scratch, into: Scratch, copied: StringCopy): boolean {
  const { bytes: source, words: sourceWords } = from;
  const { bytes: target, words: targetWords } = into;
  let { at, to } = copied;
  copied.seen = 0;
  copied.extra = 0;
  while (to < LIMIT) {
    const word = sourceWords.getInt32(at, true);
    const others = findOthers(word);
    // Bytes that are not to be copied are overwritten by what follows.
    targetWords.setInt32(to, word, true);
    if (others === 0) {
      at += WORD;
      to += WORD;
      continue;
    }
    const plain = placeOfFirst(others);
    at += plain;
    to += plain;
    const byte = source[at] as number;
    let length = 0;
    if (byte !== BACKSLASH) length = otherLength(source, at, copied);
    else if (source[at + 1] === QUOTE) return ends(copied, at, to);
    // Any other escape of the outer string stands for a control character, which no string contains.
    else if (source[at + 1] === BACKSLASH) {
      const isDoubled = source[at + 2] === BACKSLASH;
      at += isDoubled ? 2 : 1;
      length = isDoubled ? markLength(source, at, copied) : controlLength(source, at, copied);
    }
    if (length === 0) return false;
    to = put(source, at, length, target, to);
    at += length;
  }
  return false;
}

/**
 * Has the highest bit of a byte set where one of four bytes is not visible ASCII or a space, or is a quotation mark or
 * a backslash. Above the lowest such bit, others may be set for plain bytes: a subtraction borrows from there.
 */
function findOthers(word: number): number {
  const isControl = word - 0x20202020;
  const isHigh = (word + 0x01010101) | word;
  const isQuote = (word ^ 0x22222222) - 0x01010101;
  const isBackslash = (word ^ 0x5c5c5c5c) - 0x01010101;
  return (isControl | isHigh | isQuote | isBackslash) & 0x80808080;
}

/** Which of the four bytes is the first with a bit. */
function placeOfFirst(bits: number): number {
  return (31 - Math.clz32(bits & -bits)) >> 3;
}

/** A string by itself, such as `"say \\"ho\\""`: copies it as it is. */
export function copyOuterString(from: Scratch, into: Scratch, copied: StringCopy): boolean {
  const { bytes: source, words: sourceWords } = from;
  const { bytes: target, words: targetWords } = into;
  let { at, to } = copied;
  copied.seen = 0;
  copied.extra = 0;
  while (to < LIMIT) {
    const word = sourceWords.getInt32(at, true);
    const others = findOthers(word);
    targetWords.setInt32(to, word, true);
    const plain = others === 0 ? WORD : placeOfFirst(others);
    at += plain;
    to += plain;
    if (plain === WORD) continue;
    const byte = source[at] as number;
    if (byte === QUOTE) return ends(copied, at, to);
    const length =
      byte === BACKSLASH
        ? markLength(source, at, copied) || controlLength(source, at, copied)
        : otherLength(source, at, copied);
    if (length === 0) return false;
    to = put(source, at, length, target, to);
    at += length;
  }
  return false;
}

function ends(copied: StringCopy, at: number, to: number): boolean {
  copied.at = at;
  copied.to = to;
  return true;
}

/** The length of an escaped quotation mark or backslash; 0 for anything else. */
function markLength(source: Uint8Array, at: number, copied: StringCopy): number {
  const next = source[at + 1];
  if (next !== QUOTE && next !== BACKSLASH) return 0;
  copied.extra += 1;
  return 2;
}

const [LETTER_B, LETTER_F, LETTER_N, LETTER_R, LETTER_T, LETTER_U] = [0x62, 0x66, 0x6e, 0x72, 0x74, 0x75];
const CONTROL = /^\\u00(?:0[0-7bef]|1[0-9a-f])$/;
const CONTROL_LENGTH = '\\u0000'.length;

/** The length of the one escape that canonical JSON has for a control character; 0 for anything else. */
function controlLength(source: Uint8Array, at: number, copied: StringCopy): number {
  const next = source[at + 1];
  const isBreak = next === LETTER_N || next === LETTER_R || next === LETTER_T;
  copied.seen |= isBreak ? BREAKS : CONTROLS;
  if (isBreak || next === LETTER_B || next === LETTER_F) {
    copied.extra += 1;
    return 2;
  }
  if (next !== LETTER_U || !CONTROL.test(String.fromCharCode(...source.subarray(at, at + CONTROL_LENGTH)))) return 0;
  copied.extra += CONTROL_LENGTH - 1;
  return CONTROL_LENGTH;
}

/** The length of a character that is neither plain nor escaped; 0 for one that may not stand in a string. */
function otherLength(source: Uint8Array, at: number, copied: StringCopy): number {
  const byte = source[at] as number;
  if (byte < DELETE) return 0;
  copied.seen |= byte === DELETE || isHighControl(source, at) ? CONTROLS : WIDE;
  return byte === DELETE ? 1 : wideLength(source, at);
}

/** U+0080 to U+009F. */
function isHighControl(source: Uint8Array, at: number): boolean {
  return source[at] === 0xc2 && (source[at + 1] as number) < 0xa0;
}

function put(source: Uint8Array, at: number, length: number, target: Uint8Array, to: number): number {
  for (let count = 0; count < length; count += 1) target[to + count] = source[at + count] as number;
  return to + length;
}
