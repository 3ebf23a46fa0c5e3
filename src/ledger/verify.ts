import type { Reader } from '../db/database.ts';
import { type Digest, EMPTY_ROOT, type Entry, parseEntry, TreeBuilder } from '../integrity/index.ts';
import { checkCalls } from './check-calls.ts';
import { NodeCheck } from './check-nodes.ts';
import { BLOCK, storedLeaf } from './stored-tree.ts';
import { nextTail } from './tail.ts';

/** A place where the record does not hold, named so that a person can look at it. */
export interface Problem {
  readonly place: string;
  readonly problem: string;
}

export interface LedgerReport {
  readonly size: number;
  readonly root: Digest;
  readonly problems: readonly Problem[];
}

export type Report = (place: string, problem: string) => void;

export interface LoggedEntry {
  readonly index: number;
  readonly entry: Entry;
}

/** Compares tables that were made from the log with the log, a stretch at a time, in the order of the log. */
export interface ProjectionCheck {
  /** The readable entries from `begin` to `end` (exclusive). */
  page(entries: readonly LoggedEntry[], begin: number, end: number): Promise<void>;
  /** After the last page: what only the whole can tell. */
  finish(size: number): Promise<void>;
}

export type Projection = (reader: Reader, report: Report) => ProjectionCheck;

const PAGE = 1024;

/** Checks every entry, every stored node and every projection, in memory that does not grow with the log. */
export async function verifyLedger(
  reader: Reader,
  projections: readonly Projection[] = [],
  progress: (done: number, total: number) => void = () => undefined,
): Promise<LedgerReport> {
  const problems: Problem[] = [];
  const report: Report = (place, problem) => problems.push({ place, problem });
  const head = await findHead(reader, report);
  if (head === undefined) return { size: 0, root: EMPTY_ROOT, problems };
  const { size } = head;
  let tail = '';
  const tree = new TreeBuilder();
  const nodes = new NodeCheck(reader, report);
  const checks = [checkCalls, ...projections].map((projection) => projection(reader, report));

  for (let begin = 0; begin < size; begin += PAGE) {
    const end = Math.min(begin + PAGE, size);
    const rows = await reader.query<EntryRow>(
      'SELECT idx, kind, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx',
      [begin, end],
    );
    const entries: LoggedEntry[] = [];
    for (let index = begin; index < end; index += 1) {
      const row = rows[index - begin];
      if (row?.idx !== index) {
        report(`entry ${index}`, 'is missing');
        return { size, root: tree.root(), problems };
      }
      const leaf = storedLeaf(row.entry);
      tree.add(leaf, nodes.computed);
      tail = nextTail(tail, leaf, index + 1);
      const entry = readEntry(row, report);
      if (entry !== undefined) entries.push({ index, entry });
    }
    await nodes.page();
    for (const check of checks) await check.page(entries, begin, end);
    progress(end, size);
  }
  if (tail !== head.tail) report(`entry ${size - 1}`, `or one of the ${BLOCK - 1} before it is not what was appended`);
  await checkSurplus(reader, size, report);
  await nodes.finish(size);
  for (const check of checks) await check.finish(size);
  return { size, root: tree.root(), problems };
}

/** There is one head row, and it says how many entries there are. */
async function findHead(reader: Reader, report: Report): Promise<HeadRow | undefined> {
  const heads = await reader.query<HeadRow>('SELECT id, size, tail FROM ledger_head');
  const [head] = heads;
  if (head !== undefined && heads.length === 1 && head.id === 1 && Number.isSafeInteger(head.size) && head.size > 0)
    return head;
  report('ledger_head', head === undefined ? 'is missing' : 'does not say how many entries there are');
  return undefined;
}

interface HeadRow {
  readonly id: number;
  readonly size: number;
  readonly tail: string;
}

interface EntryRow {
  readonly idx: number;
  readonly kind: string;
  readonly entry: string;
}

function readEntry(row: EntryRow, report: Report): Entry | undefined {
  const entry = parseEntry(row.entry);
  if (entry === undefined) report(`entry ${row.idx}`, 'is not canonical');
  else if ((entry.kind === 'genesis') !== (row.idx === 0))
    report(`entry ${row.idx}`, 'stands where none of its kind may');
  else if (entry.kind !== row.kind) report(`entry ${row.idx}`, `is stored as ${row.kind} and says ${entry.kind}`);
  return entry;
}

/** Rows that lie outside of the log. */
async function checkSurplus(reader: Reader, size: number, report: Report): Promise<void> {
  const beyond = await reader.query('SELECT 1 FROM ledger_entries WHERE idx < 0 OR idx >= $1 LIMIT 1', [size]);
  if (beyond.length > 0) report('ledger_entries', `has rows outside of 0 to ${size - 1}`);
}
