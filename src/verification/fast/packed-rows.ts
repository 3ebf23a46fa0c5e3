import { isAscii, isUtf8 } from 'node:buffer';
import type { Engine, Reader, SqlValue } from '../../db/database.ts';
import { parseJson } from '../../integrity/index.ts';
import { CONTENT_SEPARATOR } from './deferred-digest.ts';
import { type ByteText, fromByteText, hasNul, toByteText } from './latin1-text.ts';

/**
 * Many rows read as one value, because a driver's time goes by the value and not by the byte. What comes back is told
 * from nothing else than rows of the wanted types: anything unusual gives undefined, and is then read row by row.
 */
export interface FieldQuery {
  /** Columns of whole numbers. */
  readonly numbers: readonly string[];
  /** Columns that come back as JSON writes them between quotation marks. */
  readonly strings: readonly string[];
  /** A column of JSON of which the log has a digest with a salt. */
  readonly content: string;
  /** What follows FROM. The rows come in any order. */
  readonly from: string;
}

export interface Fields {
  /** Row by row: the numbers, then the strings. */
  readonly fields: readonly ByteText[];
  /** How many rows there are. */
  readonly total: number;
  /** Salt and content of each row, in the same order. */
  readonly contents: Uint8Array;
  /** Whether all fields are ASCII, so that they are the texts themselves. */
  readonly isAscii: boolean;
  /** Whether they are ASCII and free of quotation marks, backslashes and control characters. */
  readonly isPlain: boolean;
}

/** JSON writes this character as it is, and people do not write it. */
export const SEPARATOR = '\u007f';

export async function readFields(
  reader: Reader,
  query: OnEngine,
  width: number,
  parameters: readonly SqlValue[],
): Promise<Fields | undefined> {
  const [found] = await reader.query<FoundFields>(query[reader.engine], parameters);
  if (found === undefined || found.whole !== found.total) return undefined;
  if (found.total === 0) return { fields: [], total: 0, contents: new Uint8Array(), isAscii: true, isPlain: true };
  // No honest text has a NUL, at which some drivers would cut it.
  if (hasNul(found.fields) || hasNul(found.contents)) return undefined;
  const areAscii = isAscii(found.fields);
  if (!areAscii && !isUtf8(found.fields)) return undefined;
  const text = toByteText(found.fields);
  const fields = text.split(SEPARATOR);
  if (fields.length !== found.total * width) return undefined;
  const { total, contents } = found;
  const arePlain = isPlain(text);
  const written = arePlain ? fields : fields.map(escapeText);
  return { fields: written, total, contents, isAscii: areAscii, isPlain: areAscii && arePlain };
}

interface FoundFields {
  readonly total: number;
  readonly whole: number;
  readonly fields: Uint8Array;
  readonly contents: Uint8Array;
}

export type OnEngine = Readonly<Record<Engine, string>>;

export function fieldsSql({ numbers, strings, content, from }: FieldQuery): OnEngine {
  // Not concat_ws, which in some versions of SQLite leaves empty texts out, and the separator behind them.
  const fields = `concat(${[...numbers, ...strings].join(`, '${SEPARATOR}', `)})`;
  const contents = `concat(salt, '${CONTENT_SEPARATOR}', ${content})`;
  const onEngine = (isText: (column: string) => string) => {
    const isWhole = [...numbers.map(isNumber), ...[...strings, 'salt', content].map(isText)].join(' AND ');
    return `
      SELECT COUNT(*) AS total,
             COUNT(CASE WHEN ${isWhole} THEN 1 END) AS whole,
             convert_to(string_agg(${fields}, '${SEPARATOR}'), 'UTF8') AS fields,
             convert_to(string_agg(${contents}, '${CONTENT_SEPARATOR}'), 'UTF8') AS contents
      FROM ${from}`;
  };
  return { sqlite: onEngine(IS_TEXT.sqlite), postgres: onEngine(IS_TEXT.postgres) };
}

/** SQLite stores any type in any column, and writes all of them as if they were text. */
export const IS_TEXT: Readonly<Record<Engine, (column: string) => string>> = {
  sqlite: (column) => `typeof(${column}) = 'text'`,
  postgres: (column) => `${column} IS NOT NULL`,
};

/**
 * Texts and bytes sort after all numbers; the plus keeps a text from being converted to the type of its column first. A
 * REAL is told by its text, which has a point in it.
 */
function isNumber(column: string): string {
  return `+${column} < 1000000000000000`;
}

const NO_CONTROLS = /^[ -\uffff]*$/;

/** Whether JSON writes every part of the text as it is. */
function isPlain(text: string): boolean {
  return !text.includes('"') && !text.includes('\\') && NO_CONTROLS.test(text);
}

/** What JSON writes between the quotation marks. */
export function escapeText(text: ByteText): ByteText {
  return JSON.stringify(text).slice(1, -1);
}

export function unescapeText(escaped: ByteText): string {
  return parseJson(`"${fromByteText(escaped)}"`) as string;
}

const MAX_DIGITS = 15;
const ZERO = '0'.charCodeAt(0);

/** The number that digits stand for: as JSON writes them, and few enough to be exact. NaN for any other text. */
export function countOf(digits: ByteText): number {
  const { length } = digits;
  if (length === 0 || length > MAX_DIGITS || (length > 1 && digits.charCodeAt(0) === ZERO)) return Number.NaN;
  let count = 0;
  for (let place = 0; place < length; place += 1) {
    const digit = digits.charCodeAt(place) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    count = count * 10 + digit;
  }
  return count;
}

export function isCount(digits: ByteText): boolean {
  return countOf(digits) >= 0;
}
