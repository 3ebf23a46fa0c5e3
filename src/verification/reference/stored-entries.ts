import type { Reader } from '../../db/database.ts';
import { ENTRY_KINDS, type Entry, entryDefect, parseEntry } from '../../integrity/index.ts';
import { fromLatin1, type Latin1Text, toLatin1 } from '../latin1-text.ts';
import type { Report } from '../report.ts';
import { endsOf, SEPARATOR, type StoredPage } from '../stored-page.ts';
import { STORED_TWICE } from './unique-rows.ts';

export interface LoggedEntry {
  readonly index: number;
  readonly entry: Entry;
}

/** Replaces an entry that is not stored as text: no valid UTF-8, so no honest leaf has this hash. */
const NOT_TEXT: Latin1Text = '\u00ff';

export async function readPageByRow(reader: Reader, begin: number, end: number): Promise<StoredPage> {
  const rows = await reader.query<{ idx: number; entry: unknown }>(
    'SELECT idx, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx',
    [begin, end],
  );
  const gap = rows.findIndex(({ idx }, offset) => idx !== begin + offset);
  const inOrder = gap === -1 ? rows : rows.slice(0, gap);
  const isTwice = gap > 0 && rows[gap]?.idx === rows[gap - 1]?.idx;
  const texts = inOrder.map(({ entry }) => (typeof entry === 'string' ? toLatin1(entry) : NOT_TEXT));
  const bytes = Buffer.from(texts.map((text) => SEPARATOR + text).join(''), 'latin1');
  const missing = { index: begin + inOrder.length, problem: 'is missing' };
  const last = isTwice ? { index: missing.index - 1, problem: STORED_TWICE } : missing;
  return {
    begin,
    texts,
    bytes,
    ends: endsOf(texts),
    isPacked: false,
    ...(texts.length < end - begin && { end: last }),
  };
}

/** Parses the entries of a page that are not proven, and reports those that are not valid by themselves. */
export function parseEntries(page: StoredPage, isProven: Uint8Array, report: Report): LoggedEntry[] {
  const entries: LoggedEntry[] = [];
  for (let offset = 0; offset < page.texts.length; offset += 1) {
    if (isProven[offset] === 1) continue;
    const entry = checkEntry(page, offset, report);
    if (entry !== undefined) entries.push({ index: page.begin + offset, entry });
  }
  return entries;
}

function checkEntry({ begin, texts }: StoredPage, offset: number, report: Report): Entry | undefined {
  const index = begin + offset;
  const entry = parseEntry(fromLatin1(texts[offset] ?? ''));
  if (entry === undefined) {
    report(`entry ${index}`, 'is not canonical');
    return undefined;
  }
  if (!ENTRY_KINDS.includes(entry.kind)) report(`entry ${index}`, 'has an unknown kind');
  else if ((entry.kind === 'genesis') !== (index === 0))
    report(`entry ${index}`, 'is misplaced: genesis must be entry 0 and nowhere else');
  else {
    const defect = entryDefect(entry);
    if (defect !== undefined) report(`entry ${index}`, `breaks the grammar of ${entry.kind}: it ${defect}`);
  }
  return entry;
}

/** Every entry was read by its index; other rows of the table are not part of the log. */
export async function checkEntryCount(reader: Reader, size: number, report: Report): Promise<void> {
  const outside = await reader.query('SELECT 1 FROM ledger_entries WHERE idx < 0 OR idx >= $1 LIMIT 1', [size]);
  if (outside.length > 0) report('ledger_entries', `has rows outside 0 to ${size - 1}`);
  const [counted] = await reader.query<{ entries: number }>('SELECT COUNT(*) AS entries FROM ledger_entries');
  if (outside.length === 0 && counted?.entries !== size)
    report('ledger_entries', `has ${counted?.entries} rows where the head counts ${size}`);
}
