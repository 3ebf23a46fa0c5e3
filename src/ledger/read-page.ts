import { isUtf8 } from 'node:buffer';
import type { Reader } from '../db/database.ts';
import { fromHex, leafHashInPlace, type RawDigest } from '../integrity/index.ts';
import { type ByteText, toByteText } from './byte-text.ts';
import { isText, SEPARATOR } from './read-fields.ts';
import { storedLeaf } from './stored-tree.ts';

/** A stretch of the log as it is stored, from `begin` on. Shorter than was asked for when an entry is missing. */
export interface StoredPage {
  readonly begin: number;
  readonly kinds: readonly string[];
  readonly texts: readonly ByteText[];
  readonly leaves: readonly RawDigest[];
}

export async function readPage(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  return (await readAtOnce(reader, begin, end)) ?? readByRow(reader, begin, end);
}

const AT_ONCE = `
  SELECT COUNT(CASE WHEN ${isText('kind')} AND ${isText('entry')} THEN 1 END) AS whole,
         string_agg(kind, '${SEPARATOR}') AS kinds,
         convert_to('${SEPARATOR}' || string_agg(entry, '${SEPARATOR}'), 'UTF8') AS entries
  FROM (SELECT kind, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx) AS page`;

interface FoundEntries {
  readonly whole: number;
  readonly kinds: string;
  readonly entries: Uint8Array;
}

async function readAtOnce(reader: Reader, begin: number, end: number): Promise<StoredPage | undefined> {
  const [found] = await reader.query<FoundEntries>(AT_ONCE, [begin, end]);
  if (found?.whole !== end - begin || !isUtf8(found.entries)) return undefined;
  const kinds = found.kinds.split(SEPARATOR);
  const texts = toByteText(found.entries.subarray(1)).split(SEPARATOR);
  if (kinds.length !== end - begin || texts.length !== end - begin) return undefined;
  const leaves: RawDigest[] = [];
  let place = 0;
  for (const text of texts) {
    const next = place + 1 + text.length;
    leaves.push(leafHashInPlace(found.entries, place, next));
    place = next;
  }
  return { begin, kinds, texts, leaves };
}

async function readByRow(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  const rows = await reader.query<{ idx: number; kind: string; entry: unknown }>(
    'SELECT idx, kind, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx',
    [begin, end],
  );
  const gap = rows.findIndex(({ idx }, offset) => idx !== begin + offset);
  const there = gap === -1 ? rows : rows.slice(0, gap);
  return {
    begin,
    kinds: there.map(({ kind }) => kind),
    texts: there.map(({ entry }) => (typeof entry === 'string' ? toByteText(entry) : '')),
    leaves: there.map(({ entry }) => fromHex(storedLeaf(entry))),
  };
}
