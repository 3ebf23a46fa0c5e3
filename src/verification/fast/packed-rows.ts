import { isAscii, isUtf8 } from 'node:buffer';
import type { Engine, Reader, SqlValue } from '../../db/database.ts';
import { parseJson } from '../../integrity/index.ts';
import { fromLatin1, hasNul, type Latin1Text, toLatin1 } from '../latin1-text.ts';
import { SEPARATOR } from '../stored-page.ts';
import { CONTENT_SEPARATOR } from './deferred-digest.ts';

/**
 * Reads many rows as one value, because a driver's cost is per value and not per byte. A row with any unexpected type
 * makes the whole read undefined; the caller then leaves the rows to the reference.
 */
export interface PackedQuery {
  /** Columns of integers. */
  readonly numbers: readonly string[];
  /** Columns that are returned as JSON escapes them. */
  readonly strings: readonly string[];
  /** A column of JSON whose salted digest is in the log. */
  readonly content: string;
  /** The rest of the statement after FROM. The rows have no particular order. */
  readonly from: string;
}

export interface PackedRows {
  /** Row by row: the numbers, then the strings. */
  readonly fields: readonly Latin1Text[];
  /** The number of rows. */
  readonly total: number;
  /** Salt and content of each row, in the same order. */
  readonly contents: Uint8Array;
  /** True if all fields are ASCII, so that they need no decoding. */
  readonly isAscii: boolean;
  /** True if they are ASCII without quotation marks, backslashes and control characters. */
  readonly isPlain: boolean;
}

export async function readPackedRows(
  reader: Reader,
  query: SqlByEngine,
  width: number,
  parameters: readonly SqlValue[],
): Promise<PackedRows | undefined> {
  const [found] = await reader.query<PackedValue>(query[reader.engine], parameters);
  if (found === undefined || found.valid !== found.total) return undefined;
  if (found.total === 0) return { fields: [], total: 0, contents: new Uint8Array(), isAscii: true, isPlain: true };
  // Some drivers cut a text at a NUL, which no honest row contains.
  if (hasNul(found.fields) || hasNul(found.contents)) return undefined;
  const areAscii = isAscii(found.fields);
  if (!areAscii && !isUtf8(found.fields)) return undefined;
  const text = toLatin1(found.fields);
  const fields = text.split(SEPARATOR);
  if (fields.length !== found.total * width) return undefined;
  const { total, contents } = found;
  const arePlain = isPlain(text);
  const written = arePlain ? fields : fields.map(escapeText);
  return { fields: written, total, contents, isAscii: areAscii, isPlain: areAscii && arePlain };
}

interface PackedValue {
  readonly total: number;
  readonly valid: number;
  readonly fields: Uint8Array;
  readonly contents: Uint8Array;
}

export type SqlByEngine = Readonly<Record<Engine, string>>;

export function packedRowsSql({ numbers, strings, content, from }: PackedQuery): SqlByEngine {
  // Not concat_ws: some versions of SQLite skip empty texts and their separator.
  const fields = `concat(${[...numbers, ...strings].join(`, '${SEPARATOR}', `)})`;
  const contents = `concat(salt, '${CONTENT_SEPARATOR}', ${content})`;
  const select = (isText: (column: string) => string) => {
    const isValid = [...numbers.map(isNumber), ...[...strings, 'salt', content].map(isText)].join(' AND ');
    return `
      SELECT COUNT(*) AS total,
             COUNT(CASE WHEN ${isValid} THEN 1 END) AS valid,
             convert_to(string_agg(${fields}, '${SEPARATOR}'), 'UTF8') AS fields,
             convert_to(string_agg(${contents}, '${CONTENT_SEPARATOR}'), 'UTF8') AS contents
      FROM ${from}`;
  };
  return { sqlite: select(IS_TEXT.sqlite), postgres: select(IS_TEXT.postgres) };
}

/** Reads pairs of integers, in any order; undefined if a value has another type. */
export async function readPackedPairs(
  reader: Reader,
  query: string,
  parameters: readonly SqlValue[],
): Promise<(readonly [number, number])[] | undefined> {
  const [found] = await reader.query<{ total: number; valid: number; pairs: Uint8Array }>(query, parameters);
  if (found === undefined || found.valid !== found.total) return undefined;
  if (found.total === 0) return [];
  const numbers = toLatin1(found.pairs).split(SEPARATOR).map(countOf);
  if (numbers.length !== found.total * 2 || numbers.some(Number.isNaN)) return undefined;
  return Array.from({ length: found.total }, (_, row) => [numbers[row * 2] as number, numbers[row * 2 + 1] as number]);
}

export function packedPairsSql(one: string, other: string, from: string): string {
  return `
    SELECT COUNT(*) AS total,
           COUNT(CASE WHEN ${isNumber(one)} AND ${isNumber(other)} THEN 1 END) AS valid,
           convert_to(string_agg(concat(${one}, '${SEPARATOR}', ${other}), '${SEPARATOR}'), 'UTF8') AS pairs
    FROM ${from}`;
}

/** SQLite stores any type in any column and concatenates all of them as text. */
export const IS_TEXT: Readonly<Record<Engine, (column: string) => string>> = {
  sqlite: (column) => `typeof(${column}) = 'text'`,
  postgres: (column) => `${column} IS NOT NULL`,
};

/**
 * TEXT and BLOB sort after all numbers; the plus prevents the column's affinity from converting a text first. A REAL has
 * a decimal point in its text, which `countOf` rejects.
 */
function isNumber(column: string): string {
  return `+${column} < 1000000000000000`;
}

const NO_CONTROLS = /^[ -\uffff]*$/;

/** True if JSON escapes no character of the text. */
function isPlain(text: string): boolean {
  return !text.includes('"') && !text.includes('\\') && NO_CONTROLS.test(text);
}

/** The text as JSON escapes it, without the quotation marks. */
export function escapeText(text: Latin1Text): Latin1Text {
  return JSON.stringify(text).slice(1, -1);
}

export function unescapeText(escaped: Latin1Text): string {
  return parseJson(`"${fromLatin1(escaped)}"`) as string;
}

const MAX_DIGITS = 15;
const ZERO = '0'.charCodeAt(0);

/** The value of decimal digits in the form of JSON, few enough to be exact. NaN for any other text. */
export function countOf(digits: Latin1Text): number {
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
