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
  /** Columns of texts. */
  readonly strings: readonly string[];
  /** A column of texts that are not empty; NULL becomes the empty text. */
  readonly optional: string;
  /** A column of JSON whose salted digest is in the log. */
  readonly content: string;
  /** The rest of the statement after FROM. The rows have no particular order. */
  readonly from: string;
}

export interface PackedRows {
  /** Row by row: the numbers, the strings as JSON escapes them, the optional string. */
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
  const areAscii = isAscii(found.fields);
  if (!areAscii && !isUtf8(found.fields)) return undefined;
  const text = toLatin1(found.fields);
  const fields = text.split(SEPARATOR);
  if (fields.length !== found.total * width) return undefined;
  const { total, contents } = found;
  const arePlain = isPlain(text);
  // Some drivers cut a text at a NUL, which no honest row contains. No canonical content has one either.
  if (!arePlain && hasNul(found.fields)) return undefined;
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

export function packedRowsSql({ numbers, strings, optional, content, from }: PackedQuery): SqlByEngine {
  // Not concat_ws: some versions of SQLite skip empty texts and their separator.
  const fields = `concat(${[...numbers, ...strings, optional].join(`, '${SEPARATOR}', `)})`;
  const select = (isTextHere: IsText) => {
    const isOptional = `(${optional} IS NULL OR ${isTextHere(optional)} AND ${optional} <> '')`;
    const isValid = [...numbers.map(isNumber), ...[...strings, 'salt', content].map(isTextHere), isOptional];
    return `
      SELECT COUNT(*) AS total,
             COUNT(CASE WHEN ${isValid.join(' AND ')} THEN 1 END) AS valid,
             ${packed(fields)} AS fields,
             ${packed(`salt || '${CONTENT_SEPARATOR}' || ${content}`, CONTENT_SEPARATOR)} AS contents
      FROM ${from}`;
  };
  return { sqlite: select(isText.sqlite), postgres: select(isText.postgres) };
}

/** Reads pairs of integers, one behind the other and in any order; undefined if a value has another type. */
export async function readPackedPairs(
  reader: Reader,
  query: string,
  parameters: readonly SqlValue[],
): Promise<Float64Array | undefined> {
  const [found] = await reader.query<{ total: number; valid: number; pairs: Uint8Array }>(query, parameters);
  if (found === undefined || found.valid !== found.total) return undefined;
  if (found.total === 0) return new Float64Array();
  const digits = toLatin1(found.pairs).split(SEPARATOR);
  if (digits.length !== found.total * 2) return undefined;
  const numbers = new Float64Array(digits.length);
  for (let place = 0; place < digits.length; place += 1) numbers[place] = countOf(digits[place] as Latin1Text);
  return numbers.includes(Number.NaN) ? undefined : numbers;
}

export function packedPairsSql(one: string, other: string, from: string): string {
  return `
    SELECT COUNT(*) AS total,
           COUNT(CASE WHEN ${isNumber(one)} AND ${isNumber(other)} THEN 1 END) AS valid,
           ${packed(`concat(${one}, '${SEPARATOR}', ${other})`)} AS pairs
    FROM ${from}`;
}

/** The texts of all rows as one value in bytes. */
export function packed(text: string, separator = SEPARATOR): string {
  return `convert_to(string_agg(${text}, '${separator}'), 'UTF8')`;
}

export type IsText = (column: string) => string;

/**
 * SQLite stores any type in any column and concatenates all of them as text. It sorts numbers before texts and BLOBs
 * after them, which a comparison finds faster than `typeof`; the plus removes the column's affinity.
 */
export const isText: Readonly<Record<Engine, IsText>> = {
  sqlite: (column) => `+${column} >= '' AND +${column} < x''`,
  postgres: (column) => `${column} IS NOT NULL`,
};

/**
 * TEXT and BLOB sort after all numbers; the plus prevents the column's affinity from converting a text first. A REAL
 * has a decimal point in its text, which `countOf` rejects.
 */
export function isNumber(column: string): string {
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
