import { escapeUnsafe } from '../../terminal-text.ts';

/** Measures and cuts text for a terminal. Apply styles afterwards: these functions do not understand them. */

/** Created when it is first needed: that takes 8 ms, and most commands that write need none. */
let segmenter: Intl.Segmenter | undefined;
const ELLIPSIS = '…';

/** Combining marks, joiners, variation selectors. */
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]+$/u;
/** Characters with emoji presentation, by default or by a variation selector, and flags. */
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[#*0-9]\ufe0f\u20e3|\p{Regional_Indicator}{2}/u;

/** Wide and full-width ranges of Unicode's EastAsianWidth.txt, which regular expressions do not support. */
const WIDE_RANGES: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6b],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1b000, 0x1b2fb],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];

export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenterOf().segment(text)) width += graphemeWidth(segment);
  return width;
}

/** Cuts to at most this width, with an ellipsis if text is left out. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  return width < 1 ? '' : take(text, width - 1).trimEnd() + ELLIPSIS;
}

/** Cuts like `cut`, after a whole word if one fits. */
export function cutWords(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  return width < 1 ? '' : takeWords(text, width - 1) + ELLIPSIS;
}

/** What stands before a text, in a column that is this wide. */
export interface Term {
  readonly text: string;
  readonly width: number;
  readonly paint?: (text: string) => string;
}

/** A narrower column is hard to read. */
export const MIN_TEXT_WIDTH = 26;
const MARGIN = '    ';

/** A term with its text beside it or, where too few columns are left for the text, below it. */
export function besideTerm(
  term: Term,
  text: string,
  width: number,
  paint: (line: string) => string = String,
): string[] {
  const head = (term.paint ?? String)(term.text);
  const isBelow = width - term.width < MIN_TEXT_WIDTH;
  const margin = isBelow ? MARGIN : ' '.repeat(term.width);
  const [first = '', ...rest] = wrap(text, width - margin.length).map(paint);
  const others = rest.map((line) => margin + line);
  if (isBelow) return [...(term.text.trim() === '' ? [] : [head]), margin + first, ...others];
  return [head + ' '.repeat(Math.max(1, term.width - displayWidth(term.text))) + first, ...others];
}

/** Cuts or pads to exactly this width. */
export function pad(text: string, width: number): string {
  const shown = cut(text, width);
  return shown + ' '.repeat(Math.max(0, width - displayWidth(shown)));
}

/** Breaks between words if possible; line breaks of the text are kept. */
export function wrap(text: string, width: number): string[] {
  return text.split(/\r\n|\r|\n/).flatMap((line) => wrapLine(line.replaceAll('\t', '  '), Math.max(2, width)));
}

/** Wraps to at most `maxLines` lines, with an ellipsis after a whole word if text is left out. */
export function wrapShort(text: string, width: number, maxLines: number): string[] {
  const lines = wrap(text, width);
  if (lines.length <= maxLines) return lines;
  const last = lines[maxLines - 1] ?? '';
  return [...lines.slice(0, maxLines - 1), takeWords(last, Math.max(1, width - 1)) + ELLIPSIS];
}

/**
 * Joins the parts that are not empty, in as many lines as needed; a part is never broken, but cut if it is too wide.
 */
export function joinShort(parts: readonly string[], separator: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of parts.filter((text) => text !== '')) {
    const joined = lines.length === 0 ? part : `${lines.at(-1)}${separator}${part}`;
    if (lines.length > 0 && displayWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(cut(part, width));
  }
  return lines;
}

/** Escapes text as print does, on one line, so that it can be measured and cut. */
export function printable(text: string): string {
  return escapeUnsafe(text.replaceAll(/[ \t\r\n]+/g, ' ')).trim();
}

/** Escapes text of several lines, for `wrap`. */
export function printableProse(text: string): string {
  return text.replaceAll(/[^\t\r\n]+/g, escapeUnsafe);
}

function graphemeWidth(grapheme: string): number {
  if (ZERO_WIDTH.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  return isWide(grapheme.codePointAt(0) ?? 0) ? 2 : 1;
}

function isWide(codePoint: number): boolean {
  return WIDE_RANGES.some(([first, last]) => codePoint >= first && codePoint <= last);
}

/** The longest prefix that fits. */
function take(text: string, width: number): string {
  let taken = '';
  let used = 0;
  for (const { segment } of segmenterOf().segment(text)) {
    used += graphemeWidth(segment);
    if (used > width) break;
    taken += segment;
  }
  return taken;
}

/** The longest prefix of whole words that fits; a part of a word that is so long that little else would be left. */
function takeWords(text: string, width: number): string {
  const taken = take(text, width);
  if (taken === text || text.startsWith(' ', taken.length) || isLastWide(taken)) return taken.trimEnd();
  const end = taken.lastIndexOf(' ');
  if (end >= taken.length / 2) return taken.slice(0, end).trimEnd();
  const parts = taken.slice(end + 1).split(BREAKS);
  return parts.length === 1 ? taken : taken.slice(0, end + 1) + parts.slice(0, -1).join('');
}

/** Scripts with wide characters put no blanks between words. */
function isLastWide(text: string): boolean {
  const { segment } = [...segmenterOf().segment(text)].at(-1) ?? { segment: '' };
  return graphemeWidth(segment) === 2;
}

function wrapLine(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const piece of pieces(text, width)) {
    if (line !== '' && used + displayWidth(piece.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = '';
      used = 0;
    }
    line += line === '' && lines.length > 0 ? piece.trimStart() : piece;
    used += displayWidth(piece);
  }
  return [...lines, line.trimEnd()];
}

/** Unbreakable pieces: a word with its trailing blanks, one wide character, a part of an overlong word. */
function pieces(text: string, width: number): string[] {
  const found: string[] = [];
  let piece = '';
  const end = () => {
    if (piece !== '') found.push(...(displayWidth(piece.trimEnd()) > width ? breakWord(piece, width) : [piece]));
    piece = '';
  };
  for (const { segment } of segmenterOf().segment(text)) {
    const isBlank = segment === ' ';
    const isLone = graphemeWidth(segment) === 2;
    if ((isLone && !isBlank) || (!isBlank && piece.endsWith(' '))) end();
    piece += segment;
    if (isLone) end();
  }
  end();
  return found;
}

/** Where a path, a URL or an identifier may be broken: after its punctuation. */
const BREAKS = /(?<=[/_.:,;=&?)\]}-])(?=[\p{L}\p{N}])/u;

/** Breaks after punctuation if possible, else anywhere. */
function breakWord(word: string, width: number): string[] {
  return word.split(BREAKS).flatMap((part) => {
    const parts: string[] = [];
    let piece = '';
    let used = 0;
    for (const { segment } of segmenterOf().segment(part)) {
      used += graphemeWidth(segment);
      if (used > width) {
        parts.push(piece);
        piece = '';
        used = graphemeWidth(segment);
      }
      piece += segment;
    }
    return [...parts, piece];
  });
}

function segmenterOf(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter;
}
