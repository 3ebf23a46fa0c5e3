import type { Reader, SqlValue } from '../db/database.ts';

/**
 * Many rows read as one value, because a driver's time goes by the value and not by the byte. What comes back is told
 * from nothing else than rows of the wanted types: anything unusual gives undefined, and is then read row by row.
 */
export interface FieldQuery {
  /** Columns of whole numbers; the first of them is the key by which the rows are chosen. */
  readonly numbers: readonly string[];
  /** Columns that come back as JSON writes them between quotation marks. */
  readonly strings: readonly string[];
  /** One more column of text, which comes back as it is. */
  readonly raw: string;
  /** What follows FROM. The rows come in any order. */
  readonly from: string;
}

export interface Fields {
  /** Row by row: the numbers, then the strings. */
  readonly fields: readonly string[];
  readonly raws: readonly string[];
}

/** JSON writes this character as it is, and people do not write it. */
export const SEPARATOR = '\u007f';

export async function readFields(
  reader: Reader,
  query: string,
  width: number,
  parameters: readonly SqlValue[],
): Promise<Fields | undefined> {
  const [found] = await reader.query<FoundFields>(query, parameters);
  if (found === undefined || found.whole !== found.total) return undefined;
  if (found.total === 0) return { fields: [], raws: [] };
  const fields = found.fields.split(SEPARATOR);
  const raws = found.raws.split(SEPARATOR);
  if (fields.length !== found.total * width || raws.length !== found.total) return undefined;
  if (!found.fields.isWellFormed()) return undefined;
  return { fields: isPlain(found.fields) ? fields : fields.map(escapeText), raws };
}

interface FoundFields {
  readonly total: number;
  readonly whole: number;
  readonly fields: string;
  readonly raws: string;
}

export function fieldsSql({ numbers, strings, raw, from }: FieldQuery): string {
  const wanted = [...numbers.map(isNumber), ...[...strings, raw].map(isText)].join(' AND ');
  return `
    SELECT COUNT(*) AS total, COUNT(CASE WHEN ${wanted} THEN 1 END) AS whole,
           string_agg(concat_ws('${SEPARATOR}', ${[...numbers, ...strings].join(', ')}), '${SEPARATOR}') AS fields,
           string_agg(${raw}, '${SEPARATOR}') AS raws
    FROM ${from}`;
}

/** SQLite takes bytes in any column and writes them as if they were text; only a comparison tells them apart. */
export function isText(column: string): string {
  return `${column} = CAST(${column} AS TEXT)`;
}

/** Texts and bytes come after all numbers. */
function isNumber(column: string): string {
  return `${column} < 1000000000000000`;
}

const NO_CONTROLS = /^[ -\uffff]*$/;

/** Whether JSON writes every part of the text as it is. */
function isPlain(text: string): boolean {
  return !text.includes('"') && !text.includes('\\') && NO_CONTROLS.test(text);
}

/** What JSON writes between the quotation marks. */
export function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export function unescapeText(escaped: string): string {
  return JSON.parse(`"${escaped}"`) as string;
}

/** Digits as JSON writes them, and few enough to be exact. */
const COUNT = /^(?:0|[1-9]\d{0,14})$/;

export function isCount(digits: string | undefined): digits is string {
  return digits !== undefined && COUNT.test(digits);
}
