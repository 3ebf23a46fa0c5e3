import type { Reader } from '../../db/database.ts';
import { countByStatus, queryPage } from '../../domains/tasks/list-query.ts';
import { type Present, withoutNulls } from '../../domains/tasks/output.ts';
import { taskFields } from '../../domains/tasks/record.ts';
import type { ListInput } from '../../domains/tasks/schema.ts';

/** In the order of the columns of a spreadsheet. */
const listed = taskFields.select([
  'task_id',
  'project',
  'status',
  'priority',
  'progress',
  'assignee',
  'holder',
  'title',
  'labels',
  'blocked_reason',
  'depends_on',
  'parent_id',
  'estimate_hours',
  'workflow',
  'created_at',
  'created_by',
  'updated_at',
  'updated_by',
]);

export const COLUMNS = listed.names;
export type ListedRow = Present<ReturnType<typeof listed.read>>;

export type ListFilters = Pick<ListInput, 'project' | 'assignee' | 'label' | 'status' | 'search'>;

const PAGE = 5000;

/** Yields pages of tasks, the last changed first. */
export async function* listPages(db: Reader, filters: ListFilters, limit: number): AsyncGenerator<ListedRow[], void> {
  const keys = ['updated_at DESC', 'task_no DESC'];
  for (let offset = 0; offset < limit; offset += PAGE) {
    const count = Math.min(PAGE, limit - offset);
    const input: ListInput = { ...filters, limit: count, offset, sort_by: 'updated', sort_order: 'desc' };
    const rows = await queryPage(db, input, { columns: listed.columns, keys });
    if (rows.length > 0) yield rows.map((row) => withoutNulls(listed.read(row)));
    if (rows.length < count) return;
  }
}

export async function countListed(db: Reader, filters: ListFilters): Promise<number> {
  const counts = await countByStatus(db, filters);
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
