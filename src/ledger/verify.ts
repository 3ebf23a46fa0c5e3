import type { Reader } from '../db/database.ts';
import { type Digest, type Entry, leafHash, parseEntry, saltedDigest, TreeBuilder } from '../integrity/index.ts';
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

const PAGE = 1024;

/** Checks every entry, every stored node and every call, in memory that does not grow with the log. */
export async function verifyLedger(reader: Reader): Promise<LedgerReport> {
  const size = await readSize(reader);
  const tree = new TreeBuilder();
  const nodes = new Map<string, Digest>();
  const calls = new CallCheck();
  const problems: Problem[] = [];
  const report = (place: string, problem: string) => problems.push({ place, problem });

  for (let begin = 0; begin < size; begin += PAGE) {
    const end = Math.min(begin + PAGE, size);
    const entries = await readPage<EntryRow>(reader, ENTRIES, begin, end);
    const rows = new Map((await readPage<CallRow>(reader, CALLS, begin, end)).map((row) => [row.sequence_no, row]));
    for (let index = begin; index < end; index += 1) {
      const row = entries[index - begin];
      if (row?.idx !== index) {
        report(`entry ${index}`, 'is missing');
        return { size, root: tree.root(), problems };
      }
      tree.add(leafHash(row.entry), (level, position, hash) => {
        if (level % LEVELS_PER_BLOCK === 0) nodes.set(`${level}/${position}`, hash);
      });
      const entry = parseEntry(row.entry);
      if (entry === undefined) report(`entry ${index}`, 'is not canonical');
      else if ((entry.kind === 'genesis') !== (index === 0))
        report(`entry ${index}`, 'stands where none of its kind may');
      else if (entry.kind !== row.kind) report(`entry ${index}`, `is stored as ${row.kind} and says ${entry.kind}`);
      else calls.check(index, entry, rows.get(index), report);
      rows.delete(entry?.kind === 'action.enter' ? index : -1);
    }
    for (const sequenceNo of rows.keys()) report(`call ${sequenceNo}`, 'has no enter entry');
    await checkNodes(reader, nodes, report);
  }
  await checkSurplus(reader, size, report);
  calls.finish(report);
  return { size, root: tree.root(), problems };
}

type Report = (place: string, problem: string) => void;

interface EntryRow {
  readonly idx: number;
  readonly kind: string;
  readonly entry: string;
}

interface CallRow {
  readonly sequence_no: number;
  readonly tool: string;
  readonly actor: string;
  readonly process_id: string;
  readonly entered_at: string;
  readonly arguments: string;
  readonly salt: string;
  readonly exit_idx: number | null;
  readonly exited_at: string | null;
  readonly outcome: string | null;
  readonly duration_ms: number | null;
}

const ENTRIES = 'SELECT idx, kind, entry FROM ledger_entries WHERE idx >= $1 AND idx < $2 ORDER BY idx';
const CALLS = 'SELECT * FROM calls WHERE sequence_no >= $1 AND sequence_no < $2';

function readPage<Shape>(reader: Reader, sql: string, begin: number, end: number): Promise<Shape[]> {
  return reader.query<Shape>(sql, [begin, end]);
}

/** Compares the projection of calls with the entries that it was made from. */
class CallCheck {
  /** Entered and not yet left: as many as there are processes, not as there are calls. */
  readonly #open = new Map<number, CallRow>();

  check(index: number, entry: Entry, row: CallRow | undefined, report: Report): void {
    if (entry.kind === 'action.enter') this.#enter(index, entry, row, report);
    else if (entry.kind === 'action.exit' || entry.kind === 'action.interrupted') this.#exit(index, entry, report);
  }

  finish(report: Report): void {
    for (const [sequenceNo, row] of this.#open) {
      const isOpen = [row.exit_idx, row.exited_at, row.outcome, row.duration_ms].every((column) => column === null);
      if (!isOpen) report(`call ${sequenceNo}`, 'is stored as finished and has no exit entry');
    }
  }

  #enter(index: number, entry: Entry, row: CallRow | undefined, report: Report): void {
    if (row === undefined) return report(`call ${index}`, 'is missing');
    this.#open.set(index, row);
    const isSame =
      row.tool === entry['tool'] &&
      row.actor === entry.actor &&
      row.process_id === entry['process_id'] &&
      row.entered_at === entry.at &&
      digestOf(row) === entry['arguments'];
    if (!isSame) report(`call ${index}`, 'differs from its enter entry');
  }

  #exit(index: number, entry: Entry, report: Report): void {
    const sequenceNo = Number(entry['sequence_no']);
    const row = this.#open.get(sequenceNo);
    if (row === undefined) return report(`entry ${index}`, `closes call ${sequenceNo}, which is not open`);
    this.#open.delete(sequenceNo);
    const isSame =
      row.exit_idx === index &&
      row.exited_at === entry.at &&
      row.outcome === (entry.kind === 'action.exit' ? entry['outcome'] : 'interrupted') &&
      row.duration_ms === (entry['duration_ms'] ?? null);
    if (!isSame) report(`call ${sequenceNo}`, 'differs from its exit entry');
  }
}

function digestOf({ salt, arguments: text }: CallRow): Digest | undefined {
  return /^[0-9a-f]{32}$/.test(salt) ? saltedDigest('arguments', salt, text) : undefined;
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
  const [beyond] = await reader.query<{ entries: number; calls: number; nodes: number }>(
    `SELECT (SELECT COUNT(*) FROM ledger_entries WHERE idx < 0 OR idx >= $1) AS entries,
            (SELECT COUNT(*) FROM calls WHERE sequence_no < 0 OR sequence_no >= $1) AS calls,
            (SELECT COUNT(*) FROM ledger_nodes) AS nodes`,
    [size],
  );
  let expectedNodes = 0;
  for (let count = Math.floor(size / BLOCK); count > 0; count = Math.floor(count / BLOCK)) expectedNodes += count;
  if (beyond === undefined || beyond.entries > 0) report('ledger_entries', `has rows outside of 0 to ${size - 1}`);
  if (beyond === undefined || beyond.calls > 0) report('calls', 'has rows that no entry accounts for');
  if (beyond?.nodes !== expectedNodes) report('ledger_nodes', `has ${beyond?.nodes} rows instead of ${expectedNodes}`);
}
