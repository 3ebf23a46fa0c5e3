import type { Reader } from '../../db/database.ts';
import { formatTaskId } from '../../ids.ts';
import { type Digest, type Entry, parseEntry, TreeBuilder } from '../../integrity/index.ts';
import { isAfter } from '../../ledger/cursor.ts';
import { storedLeaf } from '../../ledger/stored-tree.ts';

export interface SessionRecord {
  readonly session_seq: number;
  readonly idx: number;
  /** Null if the log has no such entry. */
  readonly entry: string | null;
}

const PAGE = 1000;

/** Each part has its own LIMIT: without it PostgreSQL reads and sorts all remaining rows for every page. */
const partOf = (table: string) =>
  `SELECT session_seq, idx FROM (SELECT session_seq, idx FROM ${table}
     WHERE session_no = $1 AND session_seq > $2 ORDER BY session_seq LIMIT $3) AS part`;

const NEXT_RECORDS = `
  SELECT records.session_seq, records.idx, ledger_entries.entry
  FROM (${partOf('thoughts')} UNION ALL ${partOf('session_events')} ORDER BY session_seq LIMIT $3) AS records
  LEFT JOIN ledger_entries ON ledger_entries.idx = records.idx
  ORDER BY records.session_seq`;

/** The thoughts and task events of a session after `begin`, in log order, one page at a time. */
export async function* readRecords(db: Reader, sessionNo: number, begin = 0): AsyncGenerator<SessionRecord[]> {
  for (let after = begin; ; ) {
    const page = await db.query<SessionRecord>(NEXT_RECORDS, [sessionNo, after, PAGE]);
    if (page.length === 0) return;
    yield page;
    const last = page.at(-1)?.session_seq ?? after;
    // Forged numbers that do not rise end the loop; `countRecords` reveals the rest.
    if (!isAfter([last], [after])) return;
    after = last;
  }
}

/** Counts stored rows, whatever their session_seq. */
export async function countRecords(db: Reader, sessionNo: number): Promise<number> {
  const [row] = await db.query<{ stored: number }>(
    `SELECT (SELECT COUNT(*) FROM thoughts WHERE session_no = $1)
          + (SELECT COUNT(*) FROM session_events WHERE session_no = $1) AS stored`,
    [sessionNo],
  );
  return row?.stored ?? 0;
}

export interface SessionTree {
  readonly root: Digest;
  readonly leafCount: number;
  /** The time of the last record. */
  readonly asOf: string | undefined;
}

/** The RFC 6962 tree over the leaf hashes of the session's entries, or only those of `taskNo`. */
export async function buildSessionTree(db: Reader, sessionNo: number, taskNo: number | null): Promise<SessionTree> {
  const tree = new GrowingSessionTree(sessionNo, taskNo);
  await tree.grow(db);
  return tree.current();
}

/** Builds the tree in steps: records are only appended, so most of it is built before the write lock is taken. */
export class GrowingSessionTree {
  readonly #tree = new TreeBuilder();
  readonly #sessionNo: number;
  readonly #taskNo: number | null;
  #lastSeq = 0;
  #last: Entry | undefined;

  constructor(sessionNo: number, taskNo: number | null) {
    this.#sessionNo = sessionNo;
    this.#taskNo = taskNo;
  }

  async grow(db: Reader): Promise<void> {
    for await (const page of readRecords(db, this.#sessionNo, this.#lastSeq)) {
      for (const { entry } of page) {
        if (entry === null || !isOf(entry, this.#taskNo)) continue;
        this.#tree.add(storedLeaf(entry));
      }
      this.#last = parseEntry(page.at(-1)?.entry ?? '') ?? this.#last;
      this.#lastSeq = page.at(-1)?.session_seq ?? this.#lastSeq;
    }
  }

  current(): SessionTree {
    return { root: this.#tree.root(), leafCount: this.#tree.size, asOf: this.#last?.at };
  }
}

function isOf(entry: string, taskNo: number | null): boolean {
  return taskNo === null || parseEntry(entry)?.['task_id'] === formatTaskId(taskNo);
}
