import { isUtf8 } from 'node:buffer';
import type { Reader } from '../db/database.ts';
import { type ByteText, textOf, toByteText } from './byte-text.ts';
import type { EntryBytes } from './log-tree.ts';
import { IS_TEXT, type OnEngine, SEPARATOR } from './read-fields.ts';

/** A stretch of the log as it is stored, from `begin` on. Shorter than was asked for when an entry is missing. */
export interface StoredTexts extends EntryBytes {
  readonly begin: number;
  readonly texts: readonly ByteText[];
}

/** The same with the kinds that the table has beside the entries. */
export interface StoredPage extends StoredTexts {
  readonly kinds: readonly string[];
}

export async function readPage(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  const [found] = await reader.query<FoundEntries & FoundKinds>(ENTRIES_AND_KINDS[reader.engine], [begin, end]);
  const texts = found && textsOf(found, begin, end);
  if (found === undefined || texts === undefined) return readByRow(reader, begin, end);
  const kinds = textOf(found.kind)?.split(SEPARATOR);
  return kinds?.length === end - begin ? { ...texts, kinds } : readByRow(reader, begin, end);
}

export async function readTexts(reader: Reader, begin: number, end: number): Promise<StoredTexts> {
  const [found] = await reader.query<FoundEntries>(ENTRIES[reader.engine], [begin, end]);
  return (found && textsOf(found, begin, end)) ?? readByRow(reader, begin, end);
}

const joined = (column: string) => `string_agg(${column}, '${SEPARATOR}')`;
const ENTRY = `convert_to('${SEPARATOR}' || ${joined('entry')}, 'UTF8') AS entry`;
const KIND = `convert_to(${joined('kind')}, 'UTF8') AS kind`;

const ENTRIES = atOnce(['entry'], [ENTRY]);
const ENTRIES_AND_KINDS = atOnce(['entry', 'kind'], [ENTRY, KIND]);

interface FoundEntries {
  readonly whole: number;
  readonly entry: Uint8Array;
}

interface FoundKinds {
  readonly kind: Uint8Array;
}

function atOnce(columns: readonly string[], values: readonly string[]): OnEngine {
  const rows = 'ledger_entries WHERE idx >= $1 AND idx < $2';
  const onEngine = (isText: (column: string) => string, from: string) => `
    SELECT COUNT(CASE WHEN ${columns.map(isText).join(' AND ')} THEN 1 END) AS whole, ${values.join(', ')} FROM ${from}`;
  return {
    // Walks along the key without being asked for an order, for which it would copy every row.
    sqlite: onEngine(IS_TEXT.sqlite, rows),
    postgres: onEngine(IS_TEXT.postgres, `(SELECT ${columns.join(', ')} FROM ${rows} ORDER BY idx) AS page`),
  };
}

function textsOf({ whole, entry: bytes }: FoundEntries, begin: number, end: number): StoredTexts | undefined {
  if (whole !== end - begin || !isUtf8(bytes)) return undefined;
  const texts = toByteText(bytes.subarray(1)).split(SEPARATOR);
  return texts.length === end - begin ? { begin, texts, bytes, ends: endsOf(texts) } : undefined;
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

/** SQLite takes bytes in any column. In place of a text they get one that no honest leaf is made of. */
const NO_TEXT: ByteText = '\u00ff';

async function readByRow(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  const rows = await reader.query<{ idx: number; kind: string; entry: unknown }>(
    'SELECT idx, kind, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx',
    [begin, end],
  );
  const gap = rows.findIndex(({ idx }, offset) => idx !== begin + offset);
  const there = gap === -1 ? rows : rows.slice(0, gap);
  const texts = there.map(({ entry }) => (typeof entry === 'string' ? toByteText(entry) : NO_TEXT));
  const bytes = Buffer.from(texts.map((text) => SEPARATOR + text).join(''), 'latin1');
  return { begin, kinds: there.map(({ kind }) => kind), texts, bytes, ends: endsOf(texts) };
}
