import type { Reader } from '../db/database.ts';
import { type Digest, type Entry, leafHash, parseEntry, TreeBuilder } from '../integrity/index.ts';
import { checkCalls } from './check-calls.ts';
import { readSize } from './head.ts';
import { BLOCK, LEVELS_PER_BLOCK } from './stored-tree.ts';

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
  const size = await readSize(reader);
  const tree = new TreeBuilder();
  const nodes = new Map<string, Digest>();
  const problems: Problem[] = [];
  const report: Report = (place, problem) => problems.push({ place, problem });
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
      tree.add(leafHash(row.entry), (level, position, hash) => {
        if (level % LEVELS_PER_BLOCK === 0) nodes.set(`${level}/${position}`, hash);
      });
      const entry = readEntry(row, report);
      if (entry !== undefined) entries.push({ index, entry });
    }
    await checkNodes(reader, nodes, report);
    for (const check of checks) await check.page(entries, begin, end);
    progress(end, size);
  }
  await checkSurplus(reader, size, report);
  for (const check of checks) await check.finish(size);
  return { size, root: tree.root(), problems };
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

/** Compares what was computed since the last page with what is stored, and forgets it. */
async function checkNodes(reader: Reader, computed: Map<string, Digest>, report: Report): Promise<void> {
  for (const [key, hash] of computed) {
    const [stored] = await reader.query<{ hash: string }>(
      'SELECT hash FROM ledger_nodes WHERE level = $1 AND idx = $2',
      key.split('/').map(Number),
    );
    if (stored?.hash !== hash) report(`node ${key}`, stored === undefined ? 'is missing' : 'does not match its leaves');
  }
  computed.clear();
}

/** Rows that no entry accounts for. */
async function checkSurplus(reader: Reader, size: number, report: Report): Promise<void> {
  const [beyond] = await reader.query<{ entries: number; nodes: number }>(
    `SELECT (SELECT COUNT(*) FROM ledger_entries WHERE idx < 0 OR idx >= $1) AS entries,
            (SELECT COUNT(*) FROM ledger_nodes) AS nodes`,
    [size],
  );
  let expectedNodes = 0;
  for (let count = Math.floor(size / BLOCK); count > 0; count = Math.floor(count / BLOCK)) expectedNodes += count;
  if (beyond === undefined || beyond.entries > 0) report('ledger_entries', `has rows outside of 0 to ${size - 1}`);
  if (beyond?.nodes !== expectedNodes) report('ledger_nodes', `has ${beyond?.nodes} rows instead of ${expectedNodes}`);
}
