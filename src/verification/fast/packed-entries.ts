import { isUtf8 } from 'node:buffer';
import type { Reader } from '../../db/database.ts';
import { hasNul, toLatin1 } from '../latin1-text.ts';
import { endsOf, SEPARATOR, type StoredPage, type StoredTexts } from '../stored-page.ts';
import { CONTENT_SEPARATOR, KEY_END } from './deferred-digest.ts';
import { type IsText, isText, packed, type SqlByEngine } from './packed-rows.ts';

/** A page whose rows were read as one value. */
export interface PackedPage extends StoredPage {
  /** Salt and content of each row that has them, with the index as key and in log order. */
  readonly contents: Uint8Array;
}

/** Returns undefined unless the packed value proves what every row contains. */
export async function readPackedPage(reader: Reader, begin: number, end: number): Promise<PackedPage | undefined> {
  const [found] = await reader.query<PackedEntries & PackedContents>(ENTRIES_AND_CONTENTS[reader.engine], [begin, end]);
  const texts = found && unpack(found, begin, end);
  if (found === undefined || texts === undefined) return undefined;
  return { ...texts, isPacked: true, contents: found.contents ?? new Uint8Array() };
}

export async function readPackedTexts(reader: Reader, begin: number, end: number): Promise<StoredTexts | undefined> {
  const [found] = await reader.query<PackedEntries>(ENTRIES[reader.engine], [begin, end]);
  return found && unpack(found, begin, end);
}

const ENTRY = `convert_to('${SEPARATOR}' || string_agg(entry, '${SEPARATOR}'), 'UTF8')`;
/** Relative to the page, so that every full page has the same text. SQLite receives $1 as REAL. */
const INDEXES = packed('CAST(idx - CAST($1 AS BIGINT) AS TEXT)');
/** Aggregates skip NULL. */
const CONTENTS = packed(
  `CAST(idx AS TEXT) || '${KEY_END}' || salt || '${CONTENT_SEPARATOR}' || content`,
  CONTENT_SEPARATOR,
);

const ENTRIES = packedSql('entry', `${ENTRY} AS entry, ${INDEXES} AS indexes`, (isTextHere) => isTextHere('entry'));
const ENTRIES_AND_CONTENTS = packedSql(
  'entry, salt, content',
  `${ENTRY} AS entry, ${INDEXES} AS indexes, ${CONTENTS} AS contents`,
  (isTextHere) => `${isTextHere('entry')} AND
    (salt IS NULL AND content IS NULL OR ${isTextHere('salt')} AND ${isTextHere('content')})`,
);

interface PackedEntries {
  readonly valid: number;
  readonly entry: Uint8Array;
  readonly indexes: Uint8Array;
}

interface PackedContents {
  readonly contents: Uint8Array | null;
}

function packedSql(columns: string, values: string, isValid: (isTextHere: IsText) => string): SqlByEngine {
  const rows = 'ledger_entries WHERE idx >= $1 AND idx < $2';
  const select = `SELECT COUNT(*) AS valid, ${values} FROM`;
  return {
    // Scans in key order: an ORDER BY would make SQLite copy every row. The indexes prove the order.
    sqlite: `${select} ${rows} AND ${isValid(isText.sqlite)}`,
    postgres: `${select} (SELECT idx, ${columns} FROM ${rows} AND ${isValid(isText.postgres)} ORDER BY idx) AS page`,
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
