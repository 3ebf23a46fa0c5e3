import { randomUUID } from 'node:crypto';

/** Text for a terminal: data is escaped, and only styles of `createStyles` and links become control sequences. */

/**
 * C0 (with newline and tab), DEL, C1, lone surrogates, line separators, bidirectional controls, everything invisible,
 * and noncharacters, which mark styles below.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb]/gu;

/** Zero-width joiner: allowed between the parts of one emoji, invisible elsewhere. */
const JOINER = '\u200d';
const BEFORE_JOINER = /\p{Extended_Pictographic}[\ufe0e\ufe0f\p{Emoji_Modifier}]?$/u;
const AFTER_JOINER = /^\p{Extended_Pictographic}/u;

/** Selects the glyph of the character before it; anywhere else it can carry hidden data. */
const VARIATION_SELECTOR = /^[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]$/u;
const HAS_VARIANTS = /[\p{Emoji}\p{Ideographic}]$/u;
/** The longest match of the patterns above before a character, in UTF-16 code units. */
const CONTEXT = 4;

/**
 * Replaces characters that control a terminal or are invisible with JSON escapes. JSON text keeps its value, and the
 * function is idempotent.
 */
export function escapeUnsafe(text: string): string {
  return text.replaceAll(UNSAFE, (character, index: number) =>
    isHarmless(character, index, text) ? character : escapeCharacter(character),
  );
}

export interface Styles {
  readonly bold: Style;
  readonly dim: Style;
  readonly red: Style;
  readonly green: Style;
  readonly yellow: Style;
  readonly blue: Style;
  readonly magenta: Style;
  readonly cyan: Style;
  readonly gray: Style;
}

export type Style = (text: string) => string;

/** Styled text is escaped like all other text. */
export function createStyles(enabled: boolean): Styles {
  const style = (on: number, off: number): Style => {
    if (!enabled) return (text) => text;
    return (text) => (text === '' ? '' : mark(on) + text + mark(off));
  };
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    blue: style(34, 39),
    magenta: style(35, 39),
    cyan: style(36, 39),
    gray: style(90, 39),
  };
}

/** A link to an address (OSC 8). Returns plain text for an address that a terminal might read as anything else. */
export function linkTo(address: string): Style {
  if (!/^https:\/\/[\w.:/~%-]+$/.test(address)) return (text) => text;
  return (text) => (text === '' ? '' : mark(`@${address}`) + text + mark('@'));
}

/** Renders each element as one line; a line break inside an element is data and is escaped. */
export function toTerminal(lines: string | readonly string[]): string {
  return (typeof lines === 'string' ? [lines] : lines).map(renderLine).join('\n');
}

/** Random per process, so that data cannot imitate a style. Undefined before the first style: no text has one yet. */
let secret: string | undefined;

function mark(code: number | string): string {
  secret ??= randomUUID();
  return `\ufdd0${secret};${code}\ufdd1`;
}

function renderLine(line: string): string {
  if (secret === undefined) return escapeUnsafe(line);
  return line
    .split(new RegExp(mark('(\\d+|@[\\x21-\\x7e]*)')))
    .map((part, index) => (index % 2 === 0 ? escapeUnsafe(part) : renderMark(part)))
    .join('');
}

function renderMark(code: string): string {
  return code.startsWith('@') ? `\u001b]8;;${code.slice(1)}\u001b\\` : `\u001b[${code}m`;
}

function isHarmless(character: string, index: number, text: string): boolean {
  const before = text.slice(Math.max(0, index - CONTEXT), index);
  if (character === JOINER) return BEFORE_JOINER.test(before) && AFTER_JOINER.test(text.slice(index + 1, index + 3));
  return VARIATION_SELECTOR.test(character) && HAS_VARIANTS.test(before);
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeCharacter(character: string): string {
  return SHORT[character] ?? character.split('').map(escapeCodeUnit).join('');
}

function escapeCodeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
