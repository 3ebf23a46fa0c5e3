import type { Reader } from '../../db/database.ts';
import { formatTaskId } from '../../ids.ts';
import { isAfter } from '../../ledger/cursor.ts';
import { NumberColumn } from '../replay/number-column.ts';
import type { Report } from '../report.ts';
import { forEachRow, isDeleted, type Segment } from './fts5-format.ts';

/**
 * FTS5 deletes a row by its origin: it marks the row in those segments whose range of origins has it. A wrong origin
 * does no harm until the task changes, and then search finds the old words forever. So the words of each task must lie
 * in segments that its origin leads to. All origins of a merged segment are equivalent.
 */
export async function checkSearchOrigins(
  reader: Reader,
  levels: readonly (readonly Segment[])[],
  taskCount: number,
  report: Report,
): Promise<void> {
  // A merge takes its range from the first and the last segment of a level.
  for (const level of levels)
    if (!level.every(follows)) report('task_search_data', 'has segments whose origins are not in order');
  const origins = await readOrigins(reader, taskCount, report);
  const wrong = new Set<number>();
  for (const segment of levels.flat()) await checkSegment(reader, segment, origins, wrong);
  for (const taskNo of [...wrong].slice(0, MAX_NAMED))
    report('task_search_docsize', `has an origin that does not lead to the words of ${formatTaskId(taskNo)}`);
}

/** An attacker can change a million rows; a few names are enough to start an investigation. */
const MAX_NAMED = 10;

function follows({ firstOrigin, lastOrigin }: Segment, place: number, level: readonly Segment[]): boolean {
  return firstOrigin >= 1 && firstOrigin <= lastOrigin && firstOrigin > (level[place - 1]?.lastOrigin ?? 0);
}

const PAGE = 1000;
const MAX_ORIGIN = 2 ** 32 - 1;

async function readOrigins(reader: Reader, taskCount: number, report: Report): Promise<NumberColumn> {
  const origins = new NumberColumn();
  for (let after = 0; ; ) {
    const rows = await reader.query<{ id: number; origin: unknown }>(
      `SELECT id, CASE typeof(origin) WHEN 'integer' THEN origin END AS origin FROM task_search_docsize
       WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`,
      [after, taskCount, PAGE],
    );
    if (rows.length === 0) return origins;
    for (const { id, origin } of rows) {
      if (typeof origin === 'number' && origin >= 1 && origin <= MAX_ORIGIN) origins.set(id, origin);
      else report('task_search_docsize', `has no origin for ${formatTaskId(id)}`);
    }
    const last = rows.at(-1)?.id ?? after;
    if (!isAfter([last], [after])) return origins;
    after = last;
  }
}

const PAGES_AT_ONCE = 64;
/** Where in an id of a block the number of its segment begins. */
const SEGMENT_SHIFT = 37;
/** Ids go beyond 2^53, and some drivers bind every number as a double, with which sums would be rounded. */
const BLOCKS = `
  SELECT id - ($1 << ${SEGMENT_SHIFT}) AS page, hex(block) AS hex FROM task_search_data
  WHERE id >= ($1 << ${SEGMENT_SHIFT}) + CAST($2 AS INTEGER) AND id < ($1 << ${SEGMENT_SHIFT}) + CAST($3 AS INTEGER)
  ORDER BY id`;
const TOMBSTONES = 2 ** 16;

async function checkSegment(
  reader: Reader,
  segment: Segment,
  origins: NumberColumn,
  wrong: Set<number>,
): Promise<void> {
  const { id, firstPage, lastPage, firstOrigin, lastOrigin, tombstonePages } = segment;
  const pages = await readBlocks(reader, id + TOMBSTONES, 0, tombstonePages);
  const tombstones = new Map(pages.map(({ page, block }) => [page, block]));
  const visit = (rowid: number) => {
    const origin = origins.get(rowid);
    if (origin >= firstOrigin && origin <= lastOrigin) return;
    if (tombstonePages === 0 || !isDeleted(tombstones, tombstonePages, rowid)) wrong.add(rowid);
  };
  // A fully merged segment has no pages; missing pages end the loop.
  for (let page = Math.max(firstPage, 1); page <= lastPage; page += PAGES_AT_ONCE) {
    const blocks = await readBlocks(reader, id, page, Math.min(page + PAGES_AT_ONCE, lastPage + 1));
    for (const { block } of blocks) forEachRow(block, visit);
    if (blocks.length === 0) return;
  }
}

async function readBlocks(reader: Reader, segmentId: number, begin: number, end: number) {
  const rows = await reader.query<{ page: number; hex: string }>(BLOCKS, [segmentId, begin, end]);
  return rows.map(({ page, hex }) => ({ page, block: Buffer.from(hex, 'hex') }));
}
