import { isUtf8 } from 'node:buffer';
import type { Reader } from '../db/database.ts';
import { STRICT } from '../db/sqlite/strict-select.ts';

/**
 * A reader for verification: no driver decodes a text, because some cut it at a NUL and all of them replace invalid
 * UTF-8. A value that no honest writer stores comes as `Unreadable`, which equals nothing. What asks for bytes itself
 * (`convert_to`) gets them unchanged.
 */
export function strictReader(reader: Reader): Reader {
  // PostgreSQL stores neither a NUL nor invalid UTF-8, and no value of another type than its column's.
  if (reader.engine === 'postgres' || strictReaders.has(reader)) return reader;
  const strict: Reader = {
    engine: reader.engine,
    query: async <Shape>(sql: string, parameters?: Parameters<Reader['query']>[1]) => {
      if (!isPlainSelect(sql)) return reader.query<Shape>(sql, parameters);
      const rows = await reader.query<Record<string, unknown>>(STRICT + sql, parameters);
      for (const row of rows) decodeRow(row);
      return rows as Shape[];
    },
  };
  strictReaders.add(strict);
  return strict;
}

const strictReaders = new WeakSet<Reader>();

/** Bytes in place of a text or a whole number: a BLOB, a REAL, a text with a NUL or with invalid UTF-8. */
export class Unreadable extends Uint8Array {
  override toString(): string {
    return '(unreadable bytes)';
  }
}

function isPlainSelect(sql: string): boolean {
  return /^\s*(?:SELECT|WITH)\b/.test(sql) && !sql.includes('convert_to(');
}

function decodeRow(row: Record<string, unknown>): void {
  for (const name of Object.keys(row)) {
    const value = row[name];
    if (value instanceof Uint8Array) row[name] = decodeText(value) ?? Unreadable.from(value);
  }
}

/** Undefined unless the bytes are valid UTF-8 without a NUL. */
function decodeText(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
