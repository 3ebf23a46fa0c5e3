import type { Reader } from '../../db/database.ts';
import { formatSessionId, formatTaskId, parseId } from '../../ids.ts';

/** The number of records of a task or a session in the log. Only equality with the tables proves anything. */
export interface RecordCounts {
  /** Thoughts of a task. */
  thoughtsOf(taskNo: number): number;
  /** Thoughts and task events of a session. */
  recordsOf(sessionNo: number): number;
  hasSeal(sessionNo: number): boolean;
}

const ENTRIES_AT_ONCE = 20_000;

/** One more than the largest of these kinds would also match; the patterns below decide. */
const NEXT_RECORDS = `
  SELECT entry FROM ledger_entries
  WHERE idx >= $1 AND idx < $2 AND (entry LIKE '%"kind":"t%' OR entry LIKE '%"kind":"session.finalized"%')`;

const STATE = `
  SELECT size,
         (SELECT entry FROM ledger_entries WHERE idx = $1) AS last,
         (SELECT COUNT(*) FROM ledger_entries WHERE idx < 0)
           + (SELECT COUNT(*) FROM ledger_entries WHERE idx >= ledger_head.size) AS outside
  FROM ledger_head WHERE id = 1`;

/**
 * Counts the records of every task and session in the log, and reads each entry once: what the log said stays true,
 * because it only grows. `colibri verify` finds an entry that a forger adds to the part that was read.
 */
export class RecordCounter {
  #counts = new Counts();
  #next = 0;
  #last: string | undefined;

  /** Returns the counts at the reader's snapshot, or undefined if only the reference can count the log. */
  async read(db: Reader): Promise<RecordCounts | undefined> {
    const [state] = await db.query<{ size: number; last: unknown; outside: number }>(STATE, [this.#next - 1]);
    if (state === undefined || !Number.isSafeInteger(state.size) || state.outside !== 0) return undefined;
    // Another ledger, or an earlier state of this one, replaced the ledger.
    if (state.size < this.#next || (this.#next > 0 && state.last !== this.#last)) this.#restart();
    while (this.#next < state.size)
      if (!(await this.#readPage(db, Math.min(this.#next + ENTRIES_AT_ONCE, state.size)))) return undefined;
    return this.#counts;
  }

  async #readPage(db: Reader, end: number): Promise<boolean> {
    const rows = await db.query<{ entry: unknown }>(NEXT_RECORDS, [this.#next, end]);
    const [last] = await db.query<{ entry: unknown }>('SELECT entry FROM ledger_entries WHERE idx = $1', [end - 1]);
    // Every id was given out by an entry: a higher number is forged, and would take memory.
    const isCounted = rows.every(({ entry }) => typeof entry === 'string' && this.#counts.add(entry, end));
    if (!isCounted || typeof last?.entry !== 'string') {
      this.#restart();
      return false;
    }
    this.#last = last.entry;
    this.#next = end;
    return true;
  }

  #restart(): void {
    this.#counts = new Counts();
    this.#next = 0;
    this.#last = undefined;
  }
}

// Equivalent to the LIKE patterns of the reference, which ignore case on SQLite and have `_` for any character.
const THOUGHT = /"kind":"thought"/i;
const RECORD = /"kind":"(?:thought|task\.created|task\.updated)"/i;
const SEAL = /"kind":"session\.finalized"/i;
const TASK_IDS = /"task.id":"(T-\d+)"/gis;
const SESSION_IDS = /"session.id":"(A-\d+)"/gis;

class Counts implements RecordCounts {
  readonly #thoughts = new Tally(formatTaskId);
  readonly #records = new Tally(formatSessionId);
  readonly #seals = new Tally(formatSessionId);

  /** False if the entry has a number above the limit. */
  add(entry: string, limit: number): boolean {
    return (
      this.#thoughts.add(idsAfter(entry, THOUGHT, TASK_IDS), limit) &&
      this.#records.add(idsAfter(entry, RECORD, SESSION_IDS), limit) &&
      this.#seals.add(idsAfter(entry, SEAL, SESSION_IDS), limit)
    );
  }

  thoughtsOf(taskNo: number): number {
    return this.#thoughts.of(taskNo);
  }

  recordsOf(sessionNo: number): number {
    return this.#records.of(sessionNo);
  }

  hasSeal(sessionNo: number): boolean {
    return this.#seals.of(sessionNo) > 0;
  }
}

/** Returns each id once per entry, as the reference counts. */
function idsAfter(entry: string, kind: RegExp, ids: RegExp): Set<string> {
  const found = kind.exec(entry);
  if (found === null) return new Set();
  return new Set([...entry.slice(found.index).matchAll(ids)].map(([, id = '']) => id));
}

/** Four bytes for each number: ids are numbered without gaps. */
class Tally {
  readonly #format: (number: number) => string;
  #counts = new Uint32Array(64);

  constructor(format: (number: number) => string) {
    this.#format = format;
  }

  add(ids: ReadonlySet<string>, limit: number): boolean {
    for (const id of ids) {
      const number = parseId(id);
      if (number >= limit) return false;
      // A noncanonical number is not an id.
      if (this.#format(number) !== id) continue;
      if (number >= this.#counts.length) this.#grow(number);
      this.#counts[number] = this.of(number) + 1;
    }
    return true;
  }

  of(number: number): number {
    return this.#counts[number] ?? 0;
  }

  #grow(number: number): void {
    const grown = new Uint32Array(Math.max(2 * this.#counts.length, number + 1));
    grown.set(this.#counts);
    this.#counts = grown;
  }
}
