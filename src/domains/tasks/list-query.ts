import type { Engine, Reader, Row, SqlValue } from '../../db/database.ts';
import { PRIORITIES } from '../../integrity/index.ts';
import { listed } from './output.ts';
import type { ListInput } from './schema.ts';
import { listPendingMatches, matches } from './search.ts';
import { searchPhrases } from './tokenizer.ts';
import { isOpen, UNASSIGNED } from './workflows.ts';

export type ListedTask = ReturnType<typeof listed.read>;

/** Ties are broken by task number, so the order is total and pages neither skip nor repeat a task. */
const ORDER: Readonly<Record<ListInput['sort_by'], string>> = {
  created: '',
  updated: 'updated_at',
  priority: 'priority',
  progress: 'progress',
};

export async function listTasks(db: Reader, input: ListInput): Promise<{ tasks: ListedTask[]; total: number }> {
  const direction = input.sort_order === 'asc' ? 'ASC' : 'DESC';
  const keys = [ORDER[input.sort_by], 'task_no'].filter((key) => key !== '').map((key) => `${key} ${direction}`);
  const rows = await queryPage(db, input, { columns: listed.columns, keys });
  const tasks = rows.map((row) => listed.read(row));
  return { tasks, total: tasks.length === 0 && input.offset === 0 ? 0 : await countTasks(db, input) };
}

/** How `queryPage` reads a page. */
export interface PageQuery {
  readonly columns: string;
  /** The keys of the order, each with its direction; the last is unique. */
  readonly keys: readonly string[];
  /** Each wanted row meets exactly one of these conditions. Each selects an index that has its rows in this order. */
  readonly parts?: readonly string[];
}

/** The rows of one page, with the columns and in the order of the caller. */
export async function queryPage(db: Reader, input: ListInput, { columns, keys, parts }: PageQuery): Promise<Row[]> {
  const filter = new Filter(input, db.engine, await findPhrases(db, input), parts);
  if (filter.matchesNothing) return [];
  // The subquery picks the page from an index; only the rows of that page are read.
  return db.query(
    `SELECT ${columns} FROM tasks WHERE task_no IN (SELECT task_no FROM ${filter.source(keys, input)}
       ORDER BY ${keys.join(', ')} LIMIT ${filter.add(input.limit)} OFFSET ${filter.add(input.offset)})
     ORDER BY ${keys.join(', ')}`,
    filter.parameters,
  );
}

type Filters = Omit<ListInput, 'limit' | 'offset' | 'sort_by' | 'sort_order'>;

/** The number of tasks of each status that match. */
export async function countByStatus(db: Reader, filters: Filters): Promise<ReadonlyMap<string, number>> {
  const rows = await queryCounts<{ status: string; total: number }>(db, filters, 'status, ', ' GROUP BY status');
  return new Map(rows.map(({ status, total }) => [status, total]));
}

async function countTasks(db: Reader, filters: Filters): Promise<number> {
  const [row] = await queryCounts<{ total: number | null }>(db, filters, '', '');
  return row?.total ?? 0;
}

/** Sums stored counts where the filters allow it; dates, labels and words need a COUNT. */
async function queryCounts<Counts extends Row>(
  db: Reader,
  filters: Filters,
  columns: string,
  grouping: string,
): Promise<Counts[]> {
  const filter = new Filter(filters, db.engine, await findPhrases(db, filters));
  if (filter.matchesNothing) return [];
  const [count, table] = filter.isCounted ? ['SUM(tasks)', 'task_counts'] : ['COUNT(*)', 'tasks'];
  return db.query<Counts>(
    `SELECT ${columns}${count} AS total FROM ${table} ${filter.countWhere}${grouping}`,
    filter.parameters,
  );
}

interface Search {
  readonly phrases: readonly (readonly string[])[];
  /** Matching tasks that the index does not know yet. */
  readonly pending: readonly number[];
}

async function findPhrases(db: Reader, { search }: Filters): Promise<Search | undefined> {
  if (search === undefined || search === '') return undefined;
  const phrases = searchPhrases(search);
  return { phrases, pending: await listPendingMatches(db, phrases) };
}

/** The filters of a list as a conjunction of SQL conditions with parameters. */
class Filter {
  readonly parameters: SqlValue[] = [];
  readonly where: string;
  readonly countWhere: string;
  /** task_counts has every column that the filters name. */
  readonly isCounted: boolean;
  readonly matchesNothing: boolean;
  readonly #parts: readonly string[];

  constructor(
    input: Filters & { readonly sort_by?: string },
    engine: Engine,
    search: Search | undefined,
    parts?: readonly string[],
  ) {
    this.matchesNothing = search?.phrases.length === 0 || input.status?.length === 0 || input.priority?.length === 0;
    const priorities = input.priority?.map((priority) => PRIORITIES.indexOf(priority));
    const kept = [
      this.#equals('project', input.project),
      this.#equals('assignee', input.assignee),
      this.#oneOf('status', input.status),
      this.#oneOf('priority', priorities),
    ];
    const counted = [
      input.label && `task_no IN (SELECT task_no FROM task_labels WHERE label = ${this.add(input.label)})`,
      input.created_after && `created_at > ${this.add(Date.parse(input.created_after))}`,
      input.created_before && `created_at < ${this.add(Date.parse(input.created_before))}`,
      search && matches(engine, search.phrases, search.pending, (value) => this.add(value)),
    ];
    this.isCounted = counted.every((condition) => !condition);
    this.countWhere = conjunction([...kept, ...counted]);
    // Redundant predicates that select an index.
    const hints = [
      input.status &&
        (input.status.every(isOpen) ? 'is_open = 1' : !input.status.some(isOpen) ? 'is_open = 0' : undefined),
      input.assignee !== undefined && input.assignee !== UNASSIGNED ? `assignee <> '${UNASSIGNED}'` : undefined,
    ];
    this.where = conjunction([...kept, ...counted, ...hints]);
    // The index of a project has open and closed tasks apart.
    const isSplit = input.sort_by === 'updated' && input.project !== undefined && hints.every((hint) => !hint);
    this.#parts = parts ?? (isSplit ? ['is_open = 1', 'is_open = 0'] : []);
  }

  /** What follows FROM. Each part is read from its index up to the end of the page, and the parts are merged. */
  source(keys: readonly string[], { limit, offset }: ListInput): string {
    if (this.#parts.length === 0) return `tasks ${this.where}`;
    const end = this.add(limit + offset);
    const names = keys.map((key) => key.replace(/ .*/, '')).join(', ');
    const parts = this.#parts.map(
      (part, place) =>
        `SELECT ${names} FROM (SELECT ${names} FROM tasks ${this.where} AND ${part}
           ORDER BY ${keys.join(', ')} LIMIT ${end}) AS part_${place}`,
    );
    return `(${parts.join(' UNION ALL ')}) AS parts`;
  }

  add(value: SqlValue): string {
    this.parameters.push(value);
    return `$${this.parameters.length}`;
  }

  #equals(column: string, value: SqlValue | undefined): string | undefined {
    return value === undefined ? undefined : `${column} = ${this.add(value)}`;
  }

  #oneOf(column: string, values: readonly SqlValue[] | undefined): string | undefined {
    return values === undefined ? undefined : `${column} IN (${values.map((value) => this.add(value)).join(', ')})`;
  }
}

function conjunction(conditions: readonly (string | undefined)[]): string {
  const present = conditions.filter((condition) => condition);
  return present.length === 0 ? '' : `WHERE ${present.join(' AND ')}`;
}
