import type { Reader } from '../../db/database.ts';
import type { Report } from '../report.ts';
import { type Averages, readAverages, type Segment } from './fts5-format.ts';

/**
 * Every row of the inner tables must belong to a segment that the structure record names. FTS5 gives the number of a
 * deleted segment to a new one: orphan rows there make later writes fail.
 */
export async function checkSearchTables(
  reader: Reader,
  segments: readonly Segment[],
  least: Averages,
  report: Report,
): Promise<void> {
  const byId = new Map(segments.map((segment) => [segment.id, segment]));
  for (const group of await reader.query<PageGroup>(PAGES)) {
    if (!isExpected(group, byId))
      report('task_search_data', `has ${group.pages} block(s) that no segment of the index has`);
  }
  for (const { segment, first, last } of await reader.query<IndexGroup>(INDEX)) {
    if (first < 1 || last > (byId.get(segment)?.lastPage ?? 0))
      report('task_search_idx', `leads to pages that segment ${segment} does not have`);
  }
  for (const segment of segments) await checkPages(reader, segment, report);
  await checkAverages(reader, least, report);
}

interface PageGroup {
  readonly segment: number;
  readonly level: number;
  readonly first: number;
  readonly last: number;
  readonly pages: number;
}

/**
 * An id is 16 bits of segment and one for tombstones, one bit for a list of pages, 5 bits of height, 31 bits of page.
 */
const PAGES = `
  SELECT id >> 37 AS segment, (id >> 31) & 63 AS level, MIN(id & 2147483647) AS first, MAX(id & 2147483647) AS last,
    COUNT(*) AS pages
  FROM task_search_data WHERE id NOT IN (1, 10) GROUP BY id >> 37, (id >> 31) & 63`;
const TOMBSTONES = 2 ** 16;
const LEAVES = 0;
const PAGE_LISTS = 32;

function isExpected({ segment, level, first, last }: PageGroup, byId: ReadonlyMap<number, Segment>): boolean {
  if (segment >= TOMBSTONES) return level === LEAVES && last < (byId.get(segment - TOMBSTONES)?.tombstonePages ?? 0);
  const found = byId.get(segment);
  if (found === undefined || last > found.lastPage) return false;
  return level === LEAVES ? first >= Math.max(found.firstPage, 1) : level >= PAGE_LISTS;
}

interface IndexGroup {
  readonly segment: number;
  readonly first: number;
  readonly last: number;
}

const INDEX = `SELECT segid AS segment, MIN(pgno >> 1) AS first, MAX(pgno >> 1) AS last FROM task_search_idx GROUP BY segid`;

/** A page that is missing fails only those queries whose words were on it. */
async function checkPages(reader: Reader, segment: Segment, report: Report): Promise<void> {
  const { id, firstPage, lastPage, tombstonePages } = segment;
  const [found] = await reader.query<{ leaves: number; tombstones: number }>(
    `SELECT
       (SELECT COUNT(*) FROM task_search_data WHERE id > ($1 << 37) AND id < ($1 << 37) + (1 << 31)) AS leaves,
       (SELECT COUNT(*) FROM task_search_data WHERE id >= ($2 << 37) AND id < ($2 << 37) + (1 << 31)) AS tombstones`,
    [id, id + TOMBSTONES],
  );
  const leaves = firstPage === 0 ? 0 : lastPage - firstPage + 1;
  if (found?.leaves !== leaves || found.tombstones !== tombstonePages)
    report('task_search_data', `does not have every block of segment ${id}`);
}

/** FTS5 adds what is inserted and never subtracts what is deleted, so only a lower bound is known. */
async function checkAverages(reader: Reader, least: Averages, report: Report): Promise<void> {
  const [row] = await reader.query<{ hex: string }>('SELECT hex(block) AS hex FROM task_search_data WHERE id = 1');
  if (row === undefined) return report('task_search_data', 'has no row of averages');
  const { rows, words } = readAverages(Buffer.from(row.hex, 'hex'));
  const isPossible = rows >= least.rows && words >= least.words && Number.isSafeInteger(rows + words);
  if (!isPossible) report('task_search_data', `has averages of ${words} words in ${rows} rows, which is impossible`);
}
