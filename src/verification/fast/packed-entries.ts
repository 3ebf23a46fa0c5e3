import { isUtf8 } from 'node:buffer';
import type { Reader } from '../../db/database.ts';
import { hasNul, toLatin1 } from '../latin1-text.ts';
import { endsOf, SEPARATOR, type StoredPage, type StoredTexts } from '../stored-page.ts';
import { IS_TEXT, type SqlByEngine } from './packed-rows.ts';

/** Returns undefined unless the packed value proves what every row contains. */
export async function readPackedPage(reader: Reader, begin: number, end: number): Promise<StoredPage | undefined> {
  const texts = await readPackedTexts(reader, begin, end);
  return texts && { ...texts, isPacked: true };
}

export async function readPackedTexts(reader: Reader, begin: number, end: number): Promise<StoredTexts | undefined> {
  const [found] = await reader.query<PackedEntries>(ENTRIES[reader.engine], [begin, end]);
  return found && unpack(found, begin, end);
}

const joined = (column: string) => `string_agg(${column}, '${SEPARATOR}')`;
const ENTRY = `convert_to('${SEPARATOR}' || ${joined('entry')}, 'UTF8') AS entry`;
/** Relative to the page, so that every full page has the same text. SQLite receives $1 as REAL. */
const INDEXES = `convert_to(${joined('CAST(idx - CAST($1 AS BIGINT) AS TEXT)')}, 'UTF8') AS indexes`;

const ENTRIES = packedSql('entry', [ENTRY, INDEXES]);

interface PackedEntries {
  readonly valid: number;
  readonly entry: Uint8Array;
  readonly indexes: Uint8Array;
}

function packedSql(column: string, values: readonly string[]): SqlByEngine {
  const rows = 'ledger_entries WHERE idx >= $1 AND idx < $2';
  const select = (isText: (column: string) => string, from: string) => `
    SELECT COUNT(CASE WHEN ${isText(column)} THEN 1 END) AS valid, ${values.join(', ')} FROM ${from}`;
  return {
    // Scans in key order: an ORDER BY would make SQLite copy every row. The indexes prove the order.
    sqlite: select(IS_TEXT.sqlite, rows),
    postgres: select(IS_TEXT.postgres, `(SELECT idx, ${column} FROM ${rows} ORDER BY idx) AS page`),
  };
}

function unpack(found: PackedEntries, begin: number, end: number): StoredTexts | undefined {
  const { valid, entry: bytes, indexes } = found;
  if (valid !== end - begin || toLatin1(indexes) !== indexesUpTo(valid)) return undefined;
  if (hasNul(bytes) || !isUtf8(bytes)) return undefined;
  const texts = toLatin1(bytes.subarray(1)).split(SEPARATOR);
  return texts.length === end - begin ? { begin, texts, bytes, ends: endsOf(texts) } : undefined;
}

let fullPage = { count: 0, indexes: '' };

/** 0, 1, 2, … joined as SQL joins them: each index once and in order. */
function indexesUpTo(count: number): string {
  if (fullPage.count !== count)
    fullPage = { count, indexes: Array.from({ length: count }, (_, offset) => offset).join(SEPARATOR) };
  return fullPage.indexes;
}
