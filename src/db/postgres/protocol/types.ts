import type { SqlValue } from '../../database.ts';

/** Numbers as the port hands them out: every count and index is far below 2^53. */
const NUMERIC_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700]);
const BOOLEAN_TYPE = 16;
const BYTES_TYPE = 17;

/** Reads a value that the server sent as text. */
export type Parser = (text: string) => unknown;

export function parserOf(typeId: number): Parser {
  if (NUMERIC_TYPES.has(typeId)) return Number;
  if (typeId === BOOLEAN_TYPE) return (text) => (text === 't' ? 1 : 0);
  if (typeId === BYTES_TYPE) return (text) => Buffer.from(text.slice(2), 'hex');
  return asItIs;
}

function asItIs(text: string): string {
  return text;
}

/** SQLite takes what is no number for NULL, which equals nothing; so does this. */
export function toParameter(value: SqlValue): string | null {
  if (typeof value !== 'number') return value;
  return Number.isFinite(value) ? String(value) : null;
}
