import type { Reader, SqlValue } from '../../db/database.ts';
import { type Dialect, dialectOf } from '../../db/dialect.ts';
import { parseEntry } from '../../integrity/index.ts';

/** One call, as a row of the view `actions`. */
export interface RecordedCall {
  readonly sequence_no: number;
  readonly tool: string;
  readonly actor: string;
  readonly entered_at: string;
  readonly exited_at: string | null;
  /** `running` until the exit is recorded. */
  readonly outcome: string;
  readonly duration_ms: number | null;
  readonly arguments: string;
  /** Salted digest of the answer; null until the exit is recorded. */
  readonly result_digest: string | null;
}

export interface ScannedCall extends RecordedCall {
  /** The entry before the exit: the last change of the call, if it made one. */
  readonly change: string | null;
}

/** Which calls a scan yields. A call must meet every condition that is given. */
export interface CallConditions {
  readonly actor?: string | undefined;
  readonly tool?: string | undefined;
  /** Texts in the arguments; one of them is enough. A call in `numbers` need not have one. */
  readonly texts?: readonly string[] | undefined;
  readonly numbers?: readonly number[] | undefined;
}

export interface ScanRange {
  /** The first and the last entry. */
  readonly from: number;
  readonly to: number;
  readonly direction: 'forward' | 'backward';
}

/** The first statement looks at few entries, because most callers want the last calls. */
const FIRST_WINDOW = 1000;
/** No statement looks at more: SQLite blocks the event loop, and a signal must end the program. */
const MAX_WINDOW = 64_000;
/** No statement returns more calls. */
const PAGE = 500;

/** Yields calls in the order of the log, or newest first. Looks at no more entries than the caller needs. */
export async function* scanCalls(
  db: Reader,
  conditions: CallConditions,
  { from, to, direction }: ScanRange,
): AsyncGenerator<ScannedCall, void> {
  let [low, high] = [from, to];
  for (let entries = FIRST_WINDOW; low <= high; entries = Math.min(MAX_WINDOW, entries * 4)) {
    const window = await findWindow(db, { low, high, entries, direction });
    if (window === undefined) return;
    const calls = await listCalls(db, conditions, window, direction);
    yield* calls;
    const end = calls.length < PAGE ? undefined : calls.at(-1)?.sequence_no;
    if (direction === 'forward') low = (end ?? window.last) + 1;
    else high = (end ?? window.first) - 1;
  }
}

/** The index of the last entry; -1 in an empty log. */
export async function findLastIndex(db: Reader): Promise<number> {
  const [row] = await db.query<{ last: number | null }>('SELECT MAX(idx) AS last FROM ledger_entries');
  return row?.last ?? -1;
}

interface Window {
  readonly first: number;
  readonly last: number;
}

/** Counts rows, not indexes: a forged index can be arbitrarily large. */
async function findWindow(
  db: Reader,
  { low, high, entries, direction }: { low: number; high: number; entries: number; direction: ScanRange['direction'] },
): Promise<Window | undefined> {
  const order = direction === 'forward' ? 'ASC' : 'DESC';
  const [row] = await db.query<{ first: number | null; last: number | null }>(
    `SELECT MIN(idx) AS first, MAX(idx) AS last FROM (
       SELECT idx FROM ledger_entries WHERE idx BETWEEN $1 AND $2 ORDER BY idx ${order} LIMIT $3) AS entries`,
    [low, high, entries],
  );
  const { first = null, last = null } = row ?? {};
  return first === null || last === null ? undefined : { first, last };
}

/** The first entry that was recorded at this time or later. Takes the times of the log for rising. */
export async function findFirstSince(db: Reader, at: string, size: number): Promise<number> {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await db.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [middle]);
    if ((parseEntry(row?.entry ?? '')?.at ?? '') < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the calls in log order. */
export async function listCallsByNumber(db: Reader, numbers: readonly number[]): Promise<ScannedCall[]> {
  if (numbers.length === 0) return [];
  const places = numbers.map((_, index) => `$${index + 1}`).join(', ');
  return db.query<ScannedCall>(`${SELECT} WHERE calls.sequence_no IN (${places}) ORDER BY calls.sequence_no`, numbers);
}

const SELECT = `SELECT calls.sequence_no, tool, actor, entered_at, exited_at, COALESCE(outcome, 'running') AS outcome,
  duration_ms, COALESCE(arguments, '') AS arguments, answer AS result_digest, change.entry AS change
FROM calls LEFT JOIN ledger_entries AS change ON change.idx = calls.exit_idx - 1`;

async function listCalls(
  db: Reader,
  conditions: CallConditions,
  { first, last }: Window,
  direction: ScanRange['direction'],
): Promise<ScannedCall[]> {
  const parameters: SqlValue[] = [];
  const add = (value: SqlValue) => `$${parameters.push(value)}`;
  const order = direction === 'forward' ? 'ASC' : 'DESC';
  const where = [
    `salt IS NOT NULL AND idx BETWEEN ${add(first)} AND ${add(last)}`,
    ...conditionsOf(dialectOf(db), conditions, add),
  ].join(' AND ');
  return db.query<ScannedCall>(
    `${SELECT}
     WHERE calls.sequence_no IN (SELECT idx FROM ledger_entries WHERE ${where} ORDER BY idx ${order} LIMIT ${PAGE})
     ORDER BY calls.sequence_no ${order}`,
    parameters,
  );
}

/** Entries are canonical JSON: a quote inside a value is escaped, so these texts occur nowhere else in an entry. */
function conditionsOf(
  { contains }: Dialect,
  { actor, tool, texts, numbers = [] }: CallConditions,
  add: (value: SqlValue) => string,
): string[] {
  const has = (column: string, text: string) => contains(column, add(text));
  const found = texts?.map((text) => has('content', text));
  const known = numbers.map((number) => `idx = ${add(number)}`);
  return [
    ...(actor === undefined ? [] : [has('entry', `"actor":${JSON.stringify(actor)},`)]),
    ...(tool === undefined ? [] : [has('entry', `"tool":${JSON.stringify(tool)},`)]),
    ...(found === undefined ? [] : [`(${[...found, ...known].join(' OR ')})`]),
  ];
}
