import type { SqlValue } from '../../database.ts';

/** Returned as JavaScript numbers: every count and index is far below 2^53. */
const NUMERIC_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700]);
const BOOLEAN_TYPE = 16;
const BYTES_TYPE = 17;

/** Parses a value in PostgreSQL's text format. */
export type Parser = (text: string) => unknown;

export function parserOf(typeId: number): Parser {
  if (NUMERIC_TYPES.has(typeId)) return Number;
  if (typeId === BOOLEAN_TYPE) return (text) => (text === 't' ? 1 : 0);
  if (typeId === BYTES_TYPE) return (text) => Buffer.from(text.slice(2), 'hex');
  return asText;
}

function asText(text: string): string {
  return text;
}

/** NaN becomes NULL, as on SQLite, and so do the infinities. */
export function toParameter(value: SqlValue): string | null {
  if (typeof value !== 'number') return value;
  return Number.isFinite(value) ? String(value) : null;
}
