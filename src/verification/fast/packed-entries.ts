import { isUtf8 } from 'node:buffer';
import type { Reader } from '../../db/database.ts';
import { hasNul, toLatin1 } from '../latin1-text.ts';
import { endsOf, SEPARATOR, type StoredPage, type StoredTexts } from '../stored-page.ts';
import { CONTENT_SEPARATOR } from './deferred-digest.ts';
import { IS_TEXT, type SqlByEngine } from './packed-rows.ts';

/** A page whose rows were read as one value. */
export interface PackedPage extends StoredPage {
  /** Salt and content of each row that has one of them, in log order. */
  readonly contents: Uint8Array;
  /** True if exactly these rows have a salt and content, and both are texts. The indexes must be in order. */
  hasContentsAt(indexes: readonly number[]): boolean;
}

/** Returns undefined unless the packed value proves what every row contains. */
export async function readPackedPage(reader: Reader, begin: number, end: number): Promise<PackedPage | undefined> {
  const [found] = await reader.query<PackedEntries & PackedContents>(ENTRIES_AND_CONTENTS[reader.engine], [begin, end]);
  const texts = found && unpack(found, begin, end);
  if (found === undefined || texts === undefined) return undefined;
  const contents = found.contents ?? new Uint8Array();
  if (hasNul(contents)) return undefined;
  const at = found.content_indexes === null ? '' : toLatin1(found.content_indexes);
  const hasContentsAt = (indexes: readonly number[]) =>
    found.valid_contents === indexes.length && at === indexes.join(SEPARATOR);
  return { ...texts, isPacked: true, contents, hasContentsAt };
}

export async function readPackedTexts(reader: Reader, begin: number, end: number): Promise<StoredTexts | undefined> {
  const [found] = await reader.query<PackedEntries>(ENTRIES[reader.engine], [begin, end]);
  return found && unpack(found, begin, end);
}

const joined = (value: string, separator = SEPARATOR) => `convert_to(string_agg(${value}, '${separator}'), 'UTF8')`;
const ENTRY = `convert_to('${SEPARATOR}' || string_agg(entry, '${SEPARATOR}'), 'UTF8') AS entry`;
/** Relative to the page, so that every full page has the same text. SQLite receives $1 as REAL. */
const INDEXES = `${joined('CAST(idx - CAST($1 AS BIGINT) AS TEXT)')} AS indexes`;
/** Aggregates skip NULL. */
const ifContent = (value: string) => `CASE WHEN salt IS NOT NULL OR content IS NOT NULL THEN ${value} END`;
const CONTENTS = [
  `${joined(ifContent(`concat(salt, '${CONTENT_SEPARATOR}', content)`), CONTENT_SEPARATOR)} AS contents`,
  `${joined(ifContent('CAST(idx AS TEXT)'))} AS content_indexes`,
];
const validContents = (isText: (column: string) => string) =>
  `COUNT(CASE WHEN ${isText('salt')} AND ${isText('content')} THEN 1 END) AS valid_contents`;

const ENTRIES = packedSql('entry', () => [ENTRY, INDEXES]);
const ENTRIES_AND_CONTENTS = packedSql('entry, salt, content', (isText) => [
  ENTRY,
  INDEXES,
  ...CONTENTS,
  validContents(isText),
]);

interface PackedEntries {
  readonly valid: number;
  readonly entry: Uint8Array;
  readonly indexes: Uint8Array;
}

interface PackedContents {
  readonly contents: Uint8Array | null;
  readonly content_indexes: Uint8Array | null;
  readonly valid_contents: number;
}

type IsText = (column: string) => string;

function packedSql(columns: string, values: (isText: IsText) => readonly string[]): SqlByEngine {
  const rows = 'ledger_entries WHERE idx >= $1 AND idx < $2';
  const select = (isText: IsText, from: string) => `
    SELECT COUNT(CASE WHEN ${isText('entry')} THEN 1 END) AS valid, ${values(isText).join(', ')} FROM ${from}`;
  return {
    // Scans in key order: an ORDER BY would make SQLite copy every row. The indexes prove the order.
    sqlite: select(IS_TEXT.sqlite, rows),
    postgres: select(IS_TEXT.postgres, `(SELECT idx, ${columns} FROM ${rows} ORDER BY idx) AS page`),
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
