import { DatabaseError, type Reader, type Row, type Transaction } from '../db/database.ts';
import { isAfter } from '../ledger/cursor.ts';
import { readSize } from '../ledger/head.ts';
import { LEVELS_PER_BLOCK } from '../ledger/stored-tree.ts';
import { insertRows, updateRow } from './rows.ts';
import { BY_ENTRY } from './tables.ts';

/** Entries that are copied together; memory holds one page, and a copy that is cut short loses one at most. */
export const PAGE = 1000;

/** A stretch of the log with all rows that came with its entries. */
export interface Page {
  readonly begin: number;
  readonly end: number;
  /** How many entries the source has by now. */
  readonly size: number;
  readonly tables: readonly (readonly [table: string, rows: readonly Row[]])[];
  /** Rows of earlier entries whose content an entry of this page has redacted, as they are now. */
  readonly redacted: readonly (readonly [table: string, row: Row])[];
}

export async function readPage(source: Reader, begin: number): Promise<Page> {
  const size = await readSize(source);
  const end = Math.min(begin + PAGE, size);
  const ofEntries = Object.entries(BY_ENTRY).map(
    async ([table, column]) =>
      [
        table,
        await source.query(`SELECT * FROM ${table} WHERE ${column} >= $1 AND ${column} < $2 ORDER BY ${column}`, [
          begin,
          end,
        ]),
      ] as const,
  );
  const nodes = readFinishedNodes(source, begin, end).then((rows) => ['ledger_nodes', rows] as const);
  const tables = await Promise.all([...ofEntries, nodes]);
  const entries = tables[0]?.[1] ?? [];
  tables.push(['task_versions', await readReplacedVersions(source, entries)]);
  if (entries.length !== end - begin)
    throw new DatabaseError('corrupt', `the source misses entries between ${begin} and ${end}`, {
      advice: 'run colibri verify',
    });
  const redactions = tables.find(([table]) => table === 'redactions')?.[1] ?? [];
  return { begin, end, size, tables, redacted: await readRedacted(source, redactions) };
}

/** Canonical JSON sorts its keys. */
const UPDATED_TASK = /"kind":"task\.updated".*"task_id":"T-(\d+)"/;

/** A version is stored when a later entry replaces it, so it is copied with that entry. */
async function readReplacedVersions(source: Reader, entries: readonly Row[]): Promise<Row[]> {
  const replaced = entries.map(async ({ idx, entry }) => {
    const [, taskNo] = UPDATED_TASK.exec(String(entry)) ?? [];
    if (taskNo === undefined) return [];
    return source.query(
      `SELECT * FROM task_versions
       WHERE idx = (SELECT MAX(idx) FROM task_versions WHERE task_no = $1 AND idx < $2)`,
      [Number(taskNo), idx as number],
    );
  });
  return (await Promise.all(replaced)).flat();
}

/** The stored nodes whose subtrees the entries from `begin` to `end` complete. */
async function readFinishedNodes(source: Reader, begin: number, end: number): Promise<Row[]> {
  const levels: Promise<Row[]>[] = [];
  for (let level = LEVELS_PER_BLOCK; 2 ** level <= end; level += LEVELS_PER_BLOCK) {
    levels.push(
      source.query('SELECT * FROM ledger_nodes WHERE level = $1 AND idx >= $2 AND idx < $3 ORDER BY idx', [
        level,
        Math.floor(begin / 2 ** level),
        Math.floor(end / 2 ** level),
      ]),
    );
  }
  return (await Promise.all(levels)).flat();
}

/** Rows that are written once, except for a redaction. The other tables are compared as a whole. */
const REDACTABLE = ['ledger_entries', 'thoughts', 'observations', 'task_versions', 'redactions'] as const;

async function readRedacted(source: Reader, redactions: readonly Row[]): Promise<Page['redacted']> {
  const found: (readonly [table: string, row: Row])[] = [];
  for (const { redacts } of redactions)
    for (const table of REDACTABLE) {
      const rows = await source.query(`SELECT * FROM ${table} WHERE idx = $1`, [redacts as number]);
      found.push(...rows.map((row) => [table, row] as const));
    }
  return found;
}

export function writePage(target: Transaction, { tables, redacted }: Page): void {
  for (const [table, rows] of tables) insertRows(target, table, rows);
  for (const [table, row] of redacted) updateRow(target, table, 'idx', row);
}

/** Calls that were open when their page was copied, and have ended since. There are as many as there are servers. */
export async function closeCalls(source: Reader, target: Transaction): Promise<void> {
  for (let after = -1; ; ) {
    const open = await target.query<{ sequence_no: number }>(
      `SELECT presence.sequence_no FROM presence
       LEFT JOIN call_exits ON call_exits.sequence_no = presence.sequence_no
       WHERE presence.sequence_no > $1 AND call_exits.sequence_no IS NULL ORDER BY presence.sequence_no LIMIT $2`,
      [after, PAGE],
    );
    if (open.length === 0) return;
    const numbers = open.map(({ sequence_no }) => sequence_no);
    const wanted = numbers.map((_, index) => `$${index + 1}`).join(', ');
    const ended = await source.query(`SELECT * FROM call_exits WHERE sequence_no IN (${wanted})`, numbers);
    insertRows(target, 'call_exits', ended);
    const last = numbers.at(-1) ?? after;
    if (!isAfter([last], [after])) return;
    after = last;
  }
}
