import { isUtf8 } from 'node:buffer';
import type { Reader } from '../db/database.ts';
import { type ByteText, toByteText } from './byte-text.ts';
import type { EntryBytes } from './log-tree.ts';
import { IS_TEXT, type OnEngine, SEPARATOR } from './read-fields.ts';

/** A stretch of the log as it is stored, from `begin` on. Shorter than was asked for when an entry is missing. */
export interface StoredEntries extends EntryBytes {
  readonly begin: number;
  readonly texts: readonly ByteText[];
}

/** The same with the kinds that the table has beside the entries. */
export interface StoredPage extends StoredEntries {
  readonly kinds: readonly string[];
}

export async function readPage(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  const found = await readAtOnce(reader, PAGE, begin, end);
  const kinds = found?.kinds.split(SEPARATOR);
  return found !== undefined && kinds?.length === end - begin ? { ...found, kinds } : readByRow(reader, begin, end);
}

export async function readEntries(reader: Reader, begin: number, end: number): Promise<StoredEntries> {
  return (await readAtOnce(reader, ENTRIES, begin, end)) ?? readByRow(reader, begin, end);
}

const joined = (column: string) => `string_agg(${column}, '${SEPARATOR}')`;

/** SQLite walks along the key, and would copy every row for who asks for that; PostgreSQL has to be asked. */
function atOnce(columns: readonly string[], kinds: string): OnEngine {
  const rows = 'ledger_entries WHERE idx >= $1 AND idx < $2';
  const onEngine = (isText: (column: string) => string, from: string) => `
    SELECT COUNT(CASE WHEN ${columns.map(isText).join(' AND ')} THEN 1 END) AS whole, ${kinds} AS kinds,
           convert_to('${SEPARATOR}' || ${joined('entry')}, 'UTF8') AS entries
    FROM ${from}`;
  return {
    sqlite: onEngine(IS_TEXT.sqlite, rows),
    postgres: onEngine(IS_TEXT.postgres, `(SELECT kind, entry FROM ${rows} ORDER BY idx) AS page`),
  };
}

const PAGE = atOnce(['kind', 'entry'], joined('kind'));
const ENTRIES = atOnce(['entry'], "''");

interface FoundEntries {
  readonly whole: number;
  readonly kinds: string;
  readonly entries: Uint8Array;
}

async function readAtOnce(
  reader: Reader,
  query: OnEngine,
  begin: number,
  end: number,
): Promise<(StoredEntries & { readonly kinds: string }) | undefined> {
  const [found] = await reader.query<FoundEntries>(query[reader.engine], [begin, end]);
  if (found?.whole !== end - begin || !isUtf8(found.entries)) return undefined;
  const texts = toByteText(found.entries.subarray(1)).split(SEPARATOR);
  if (texts.length !== end - begin) return undefined;
  return { begin, kinds: found.kinds, texts, bytes: found.entries, ends: endsOf(texts) };
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
