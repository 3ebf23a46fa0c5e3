import type { Reader } from '../db/database.ts';
import { isText, SEPARATOR } from './read-fields.ts';

/** A stretch of the log as it is stored, from `begin` on. */
export interface StoredPage {
  readonly begin: number;
  readonly kinds: readonly string[];
  /** Shorter than was asked for when an entry is missing: it ends there. */
  readonly texts: readonly string[];
}

export async function readPage(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  return (await readAtOnce(reader, begin, end)) ?? readByRow(reader, begin, end);
}

/**
 * The ids of thoughts are not in ASCII. One such character makes a driver decode all of a text in another, slower way, so
 * that these entries come as a text of their own.
 */
const AT_ONCE = `
  SELECT COUNT(*) AS total, COUNT(CASE WHEN ${isText('kind')} AND ${isText('entry')} THEN 1 END) AS whole,
         string_agg(kind, '${SEPARATOR}') AS kinds,
         string_agg(CASE kind WHEN 'thought' THEN '' ELSE entry END, '${SEPARATOR}') AS entries,
         string_agg(CASE kind WHEN 'thought' THEN entry END, '${SEPARATOR}') AS thoughts
  FROM (SELECT kind, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx) AS page`;

interface FoundEntries {
  readonly total: number;
  readonly whole: number;
  readonly kinds: string;
  readonly entries: string;
  readonly thoughts: string | null;
}

async function readAtOnce(reader: Reader, begin: number, end: number): Promise<StoredPage | undefined> {
  const [found] = await reader.query<FoundEntries>(AT_ONCE, [begin, end]);
  if (found === undefined || found.total !== end - begin || found.whole !== found.total) return undefined;
  const kinds = found.kinds.split(SEPARATOR);
  const texts = found.entries.split(SEPARATOR);
  const thoughts = found.thoughts?.split(SEPARATOR) ?? [];
  if (kinds.length !== found.total || texts.length !== found.total) return undefined;
  let taken = 0;
  for (let offset = 0; offset < texts.length; offset += 1) {
    if (kinds[offset] !== 'thought') continue;
    texts[offset] = thoughts[taken] ?? '';
    taken += 1;
  }
  return taken === thoughts.length ? { begin, kinds, texts } : undefined;
}

async function readByRow(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  const rows = await reader.query<{ idx: number; kind: string; entry: string }>(
    'SELECT idx, kind, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx',
    [begin, end],
  );
  const gap = rows.findIndex(({ idx }, offset) => idx !== begin + offset);
  const there = gap === -1 ? rows : rows.slice(0, gap);
  return { begin, kinds: there.map(({ kind }) => kind), texts: there.map(({ entry }) => entry) };
}
