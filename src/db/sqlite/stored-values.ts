import { isUtf8 } from 'node:buffer';

/** What is stored in place of a text or an integer: a BLOB, a REAL, or a text with a NUL or with invalid UTF-8. */
class Unreadable extends Uint8Array {
  override toString(): string {
    return '(unreadable bytes)';
  }
}

/** Not valid UTF-8: stands for a value that is stored as another type than text or integer. */
const WRONG_TYPE = "x'ff'";

/** False for a PRAGMA, and for a statement that selects bytes itself (`convert_to`). */
export function canSelectBytes(sql: string): boolean {
  return /^\s*(?:SELECT|WITH)\b/.test(sql) && !sql.includes('convert_to(');
}

/** Wraps a query so that texts arrive as bytes. Only the columns in `floats` may hold a REAL. */
export function selectBytes(sql: string, columns: readonly string[], floats: ReadonlySet<string>): string {
  const values = columns.map((name) => {
    const column = `"${name.replaceAll('"', '""')}"`;
    const real = floats.has(name) ? column : WRONG_TYPE;
    return `CASE typeof(${column}) WHEN 'integer' THEN ${column} WHEN 'text' THEN CAST(${column} AS BLOB)
      WHEN 'real' THEN ${real} WHEN 'blob' THEN ${WRONG_TYPE} END AS ${column}`;
  });
  return `SELECT ${values.join(', ')} FROM (${sql})`;
}

/** Drivers cut a text at a NUL and replace invalid UTF-8, so the texts of `selectBytes` are decoded here. */
export function decodeRow(row: Record<string, unknown>): void {
  for (const name of Object.keys(row)) {
    const value = row[name];
    if (value instanceof Uint8Array) row[name] = decodeText(value) ?? Unreadable.from(value);
  }
}

function decodeText(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
