import { isUtf8 } from 'node:buffer';
import type { Reader } from '../../db/database.ts';
import { STORED_TWICE } from '../reference/unique-rows.ts';
import { type ByteText, hasNul, textOf, toByteText } from './latin1-text.ts';
import type { EntryBytes } from './log-tree.ts';
import { IS_TEXT, type OnEngine, SEPARATOR } from './packed-rows.ts';

/** A stretch of the log as it is stored, from `begin` on. Ends early where an entry is missing or stored twice. */
export interface StoredTexts extends EntryBytes {
  readonly begin: number;
  readonly texts: readonly ByteText[];
}

/** The same with the kinds that the table has beside the entries. */
export interface StoredPage extends StoredTexts {
  readonly kinds: readonly string[];
  /** Whether its rows came as one value; false when they had to be read one by one. */
  readonly isPacked: boolean;
  /** The entry that makes it end early, and why. */
  readonly end?: { readonly index: number; readonly problem: string };
}

/** The rows of a page as one value where that tells everything about them, otherwise row by row. */
export async function readPage(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  const [found] = await reader.query<FoundEntries & FoundKinds>(ENTRIES_AND_KINDS[reader.engine], [begin, end]);
  const texts = found && textsOf(found, begin, end);
  if (found === undefined || texts === undefined) return readPageByRow(reader, begin, end);
  const kinds = hasNul(found.kind) ? undefined : textOf(found.kind)?.split(SEPARATOR);
  return kinds?.length === end - begin ? { ...texts, kinds, isPacked: true } : readPageByRow(reader, begin, end);
}

export async function readTexts(reader: Reader, begin: number, end: number): Promise<StoredTexts> {
  const [found] = await reader.query<FoundEntries>(ENTRIES[reader.engine], [begin, end]);
  return (found && textsOf(found, begin, end)) ?? readPageByRow(reader, begin, end);
}

const joined = (column: string) => `string_agg(${column}, '${SEPARATOR}')`;
const ENTRY = `convert_to('${SEPARATOR}' || ${joined('entry')}, 'UTF8') AS entry`;
const KIND = `convert_to(${joined('kind')}, 'UTF8') AS kind`;
/** Counted from the beginning of the page, so that one text is right for every full page. SQLite gets $1 as REAL. */
const INDEXES = `convert_to(${joined('CAST(idx - CAST($1 AS BIGINT) AS TEXT)')}, 'UTF8') AS indexes`;

const ENTRIES = atOnce(['entry'], [ENTRY, INDEXES]);
const ENTRIES_AND_KINDS = atOnce(['entry', 'kind'], [ENTRY, KIND, INDEXES]);

interface FoundEntries {
  readonly whole: number;
  readonly entry: Uint8Array;
  readonly indexes: Uint8Array;
}

interface FoundKinds {
  readonly kind: Uint8Array;
}

function atOnce(columns: readonly string[], values: readonly string[]): OnEngine {
  const rows = 'ledger_entries WHERE idx >= $1 AND idx < $2';
  const onEngine = (isText: (column: string) => string, from: string) => `
    SELECT COUNT(CASE WHEN ${columns.map(isText).join(' AND ')} THEN 1 END) AS whole, ${values.join(', ')} FROM ${from}`;
  return {
    // Walks along the key: asked for an order, SQLite would copy every row. The indexes prove the order.
    sqlite: onEngine(IS_TEXT.sqlite, rows),
    postgres: onEngine(IS_TEXT.postgres, `(SELECT idx, ${columns.join(', ')} FROM ${rows} ORDER BY idx) AS page`),
  };
}

function textsOf(found: FoundEntries, begin: number, end: number): StoredTexts | undefined {
  const { whole, entry: bytes, indexes } = found;
  if (whole !== end - begin || toByteText(indexes) !== indexesUpTo(whole)) return undefined;
  if (hasNul(bytes) || !isUtf8(bytes)) return undefined;
  const texts = toByteText(bytes.subarray(1)).split(SEPARATOR);
  return texts.length === end - begin ? { begin, texts, bytes, ends: endsOf(texts) } : undefined;
}

let fullPage = { count: 0, indexes: '' };

/** 0, 1, 2, … as the store joins them: each index once and in order. */
function indexesUpTo(count: number): string {
  if (fullPage.count !== count)
    fullPage = { count, indexes: Array.from({ length: count }, (_, place) => place).join(SEPARATOR) };
  return fullPage.indexes;
}

function endsOf(texts: readonly ByteText[]): Uint32Array {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let place = 0; place < ends.length; place += 1) {
    end += 1 + (texts[place] as ByteText).length;
    ends[place] = end;
  }
  return ends;
}

/** In place of an entry that is no text comes one that no honest leaf is made of. */
const NO_TEXT: ByteText = '\u00ff';

export async function readPageByRow(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  const rows = await reader.query<{ idx: number; kind: string; entry: unknown }>(
    'SELECT idx, kind, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx',
    [begin, end],
  );
  const gap = rows.findIndex(({ idx }, offset) => idx !== begin + offset);
  const inOrder = gap === -1 ? rows : rows.slice(0, gap);
  const isTwice = gap > 0 && rows[gap]?.idx === rows[gap - 1]?.idx;
  const texts = inOrder.map(({ entry }) => (typeof entry === 'string' ? toByteText(entry) : NO_TEXT));
  const bytes = Buffer.from(texts.map((text) => SEPARATOR + text).join(''), 'latin1');
  const kinds = inOrder.map(({ kind }) => kind);
  const missing = { index: begin + inOrder.length, problem: 'is missing' };
  const last = isTwice ? { index: missing.index - 1, problem: STORED_TWICE } : missing;
  return {
    begin,
    kinds,
    texts,
    bytes,
    ends: endsOf(texts),
    isPacked: false,
    ...(texts.length < end - begin && { end: last }),
  };
}
