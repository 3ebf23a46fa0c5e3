import type { Reader } from '../../db/database.ts';
import { formatThoughtId } from '../../ids.ts';
import { leafHash, parseEntry, saltedDigest } from '../../integrity/index.ts';
import { LeafCheck } from '../../ledger/leaf-check.ts';
import { type BrokenLink, checkThought } from './chain-report.ts';
import type { ThoughtRow } from './repository.ts';
import { buildSessionTree, readRecords, type SessionRecord } from './session-tree.ts';
import type { SessionRow } from './sessions.ts';

export interface ChainReport {
  readonly total: number;
  readonly broken: readonly BrokenLink[];
  readonly trace: readonly { readonly position: number; readonly record: string; readonly hash: string }[];
}

export interface ChainOptions {
  readonly withTrace: boolean;
  readonly progress: (done: number, total: number) => void;
}

/** A thought with all that its row can be held against. */
export interface Evidence extends ThoughtRow {
  readonly entry: string | null;
  readonly before_hash: string | null;
  readonly before_position: number | null;
  readonly record_idx: number | null;
}

export const EVIDENCE = `
  SELECT thoughts.*, ledger_entries.entry, session_records.idx AS record_idx,
         before.hash AS before_hash, before.chain_position AS before_position
  FROM thoughts
  LEFT JOIN ledger_entries ON ledger_entries.idx = thoughts.idx
  LEFT JOIN session_records
    ON session_records.session_no = thoughts.session_no AND session_records.session_seq = thoughts.session_seq
  LEFT JOIN thoughts AS before
    ON before.task_no = thoughts.task_no AND before.chain_position = thoughts.chain_position - 1`;

const PAGE = 1000;
const MAX_TRACE = 10_000;

/** The chain of one task, link by link, and the seals of the sessions that its records are in. */
export async function verifyTaskChain(db: Reader, taskNo: number, options: ChainOptions): Promise<ChainReport> {
  const check = new ChainCheck(db, options);
  const sessions = new Set<number>();
  const [count] = await db.query<{ length: number }>('SELECT COUNT(*) AS length FROM thoughts WHERE task_no = $1', [
    taskNo,
  ]);
  for (let after = 0; ; ) {
    const page = await db.query<Evidence>(
      `${EVIDENCE} WHERE thoughts.task_no = $1 AND thoughts.chain_position > $2 ORDER BY thoughts.chain_position LIMIT $3`,
      [taskNo, after, PAGE],
    );
    const last = page.at(-1);
    if (last === undefined) break;
    for (const thought of page) {
      await check.thought(thought);
      sessions.add(thought.session_no);
    }
    after = last.chain_position;
    options.progress(check.total, count?.length ?? 0);
  }
  for (const sessionNo of sessions) await check.seal(sessionNo);
  return check;
}

/** Every record of one session, thoughts and task events, and its seal. */
export async function verifySession(db: Reader, session: SessionRow, options: ChainOptions): Promise<ChainReport> {
  const check = new ChainCheck(db, options);
  for await (const page of readRecords(db, session.session_no)) {
    const range = [session.session_no, page[0]?.session_seq ?? 0, page.at(-1)?.session_seq ?? 0];
    const between = 'session_no = $1 AND thoughts.session_seq >= $2 AND thoughts.session_seq <= $3';
    const thoughts = await db.query<Evidence>(`${EVIDENCE} WHERE thoughts.${between}`, range);
    const events = await db.query<{ idx: number; salt: string; content: string }>(
      `SELECT task_events.idx, salt, content FROM session_records JOIN task_events ON task_events.idx = session_records.idx
       WHERE session_no = $1 AND session_seq >= $2 AND session_seq <= $3`,
      range,
    );
    const thoughtBySeq = new Map(thoughts.map((thought) => [thought.session_seq, thought]));
    const eventByIndex = new Map(events.map((event) => [event.idx, event]));
    for (const record of page) {
      check.place(record);
      const thought = thoughtBySeq.get(record.session_seq);
      if (thought === undefined) await check.taskEvent(record, eventByIndex.get(record.idx));
      else await check.thought(thought);
    }
    options.progress(check.total, session.record_count);
  }
  if (check.total !== session.record_count) {
    check.fail('session', check.total, `record ${check.total + 1}`, 'is missing', session.record_count, check.total);
  }
  await check.seal(session.session_no);
  return check;
}

/** All that can be said about one thought from its own rows. */
export function checkEvidence(row: Evidence): BrokenLink[] {
  const { before_hash, before_position, record_idx, idx } = row;
  const previous = before_hash === null ? undefined : { hash: before_hash, chain_position: before_position ?? 0 };
  const broken = checkThought({ row, previous, entry: parseEntry(row.entry ?? '') });
  if (record_idx === idx) return broken;
  const record = formatThoughtId(row.thought_no);
  const problem = 'it is not listed in its session';
  const [expected_hash, actual_hash] = [`entry ${idx}`, `entry ${record_idx}`];
  return [...broken, { position: row.chain_position, expected_hash, actual_hash, record, layer: 'session', problem }];
}

/** Collects what was checked and what did not hold. */
class ChainCheck implements ChainReport {
  total = 0;
  readonly broken: BrokenLink[] = [];
  readonly trace: { position: number; record: string; hash: string }[] = [];
  readonly #db: Reader;
  readonly #leaves: LeafCheck;
  readonly #withTrace: boolean;

  constructor(db: Reader, { withTrace }: ChainOptions) {
    this.#db = db;
    this.#leaves = new LeafCheck(db);
    this.#withTrace = withTrace;
  }

  fail(
    layer: BrokenLink['layer'],
    position: number,
    record: string,
    problem: string,
    expected: unknown,
    actual: unknown,
  ): void {
    this.broken.push({
      position,
      expected_hash: String(expected),
      actual_hash: String(actual),
      record,
      layer,
      problem,
    });
  }

  async thought(row: Evidence): Promise<void> {
    const record = formatThoughtId(row.thought_no);
    this.broken.push(...checkEvidence(row));
    await this.#leaf(row.chain_position, record, row.idx);
    this.#note(row.chain_position, record, row.hash);
  }

  async taskEvent(
    { session_seq, idx, entry }: SessionRecord,
    event: { salt: string; content: string } | undefined,
  ): Promise<void> {
    const record = `entry ${idx}`;
    const logged = parseEntry(entry ?? '');
    const isSalt = /^[0-9a-f]{32}$/.test(event?.salt ?? '');
    const digest = event && isSalt ? saltedDigest('task', event.salt, event.content) : undefined;
    if (logged === undefined || logged['task'] === undefined || logged['task'] !== digest) {
      this.fail('entry', session_seq, record, 'its stored content is not what the log says', logged?.['task'], digest);
    }
    await this.#leaf(session_seq, record, idx);
    this.#note(session_seq, record, leafHash(entry ?? ''));
  }

  /** Records are numbered without a gap, so that none can be left out. */
  place({ session_seq, idx }: SessionRecord): void {
    const expected = this.total + 1;
    if (session_seq !== expected)
      this.fail('session', session_seq, `entry ${idx}`, 'leaves a gap before it', expected, session_seq);
  }

  /** The root that was sealed against the records that are there now. */
  async seal(sessionNo: number): Promise<void> {
    const [session] = await this.#db.query<SessionRow & { entry: string | null }>(
      `SELECT sessions.*, ledger_entries.entry FROM sessions
       LEFT JOIN ledger_entries ON ledger_entries.idx = sessions.finalized_idx WHERE session_no = $1`,
      [sessionNo],
    );
    if (session === undefined) return this.fail('session', 0, `session ${sessionNo}`, 'is missing', sessionNo, null);
    if (session.finalized_idx === null) return;
    const name = `session ${sessionNo}`;
    const logged = parseEntry(session.entry ?? '');
    const { root, leafCount } = await buildSessionTree(this.#db, sessionNo, session.sealed_task_no);
    if (root !== session.root)
      this.fail('session', leafCount, name, 'its records do not give its root', session.root, root);
    if (leafCount !== session.leaf_count)
      this.fail('session', leafCount, name, 'has another number of records', session.leaf_count, leafCount);
    if (logged?.['root'] !== session.root)
      this.fail('session', leafCount, name, 'the log names another root', logged?.['root'], session.root);
  }

  async #leaf(position: number, record: string, index: number): Promise<void> {
    if (await this.#leaves.holds(index)) return;
    this.fail(
      'log',
      position,
      record,
      `entry ${index} does not match the tree above it`,
      'the stored node',
      'another hash',
    );
  }

  #note(position: number, record: string, hash: string): void {
    this.total += 1;
    if (this.#withTrace && this.trace.length < MAX_TRACE) this.trace.push({ position, record, hash });
  }
}
