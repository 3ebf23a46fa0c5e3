import type { ThoughtRow } from '../domains/trail/repository.ts';
import type { SessionRecord } from '../domains/trail/session-tree.ts';
import { findHiddenSeal, type SessionRow } from '../domains/trail/sessions.ts';
import { formatSessionId, formatThoughtId } from '../ids.ts';
import {
  type Entry,
  entryDefect,
  isOfEvent,
  isWithoutText,
  parseEntry,
  storedDigest,
  taskDefect,
} from '../integrity/index.ts';
import { storedLeaf } from '../ledger/stored-tree.ts';
import { type BrokenLink, checkThought } from './chain-report.ts';
import type { ChainSource } from './fast/chain.ts';
import type { StoredThought } from './fast/stored-thoughts.ts';
import type { LoggedRedaction } from './redactions/finder.ts';
import { checkSeal, checkStart } from './reference/sessions.ts';

/** A thought with its entry and the link before it. */
export interface LinkedThought extends ThoughtRow {
  readonly entry: string | null;
  readonly before_hash: string | null;
  readonly before_position: number | null;
}

export interface StoredEvent {
  readonly salt: string;
  readonly content: string | null;
}

type Trace = { readonly position: number; readonly record: string; readonly hash: string };

const MAX_TRACE = 10_000;
/** Bounds the memory: a forged chain can have a million records. */
const MAX_BROKEN = 500;

/** Checks the records of a chain or a session and collects what is wrong. */
export class ChainCheck {
  total = 0;
  /** Records with at least one defect; broken lists only the first few of them. */
  defective = 0;
  /** Records that the fast path proved. */
  proven = 0;
  /** Records whose content people have removed. */
  redacted = 0;
  readonly broken: BrokenLink[] = [];
  /** Includes the links that `broken` has no room for. */
  brokenTotal = 0;
  readonly trace: Trace[] = [];
  readonly #source: ChainSource;
  readonly #withTrace: boolean;
  #lastDefective = '';

  constructor(source: ChainSource, withTrace: boolean) {
    this.#source = source;
    this.#withTrace = withTrace;
  }

  /** Counts a thought that the fast path proved. */
  acceptProven({ thoughtNo, position, hash }: StoredThought): void {
    this.proven += 1;
    this.#note(position, formatThoughtId(thoughtNo), hash);
  }

  fail(link: Omit<BrokenLink, 'expected_hash' | 'actual_hash'>, expected: unknown, actual: unknown): void {
    this.#add({ ...link, expected_hash: String(expected), actual_hash: String(actual) });
  }

  async thought(row: LinkedThought): Promise<void> {
    const { before_hash, before_position, idx, chain_position: position } = row;
    const record = formatThoughtId(row.thought_no);
    const previous = before_hash === null ? undefined : { hash: before_hash, chain_position: before_position ?? 0 };
    const redaction = await this.#findRedaction(idx);
    for (const link of checkThought({ row, previous, entry: parseEntry(row.entry ?? ''), redaction })) this.#add(link);
    await this.#leaf(position, record, idx);
    this.#note(position, record, row.hash);
  }

  async taskEvent({ session_seq: position, idx, entry }: SessionRecord, event: StoredEvent | undefined): Promise<void> {
    const record = `entry ${idx}`;
    const logged = parseEntry(entry ?? '');
    const digest = event && storedDigest('task', event.salt, event.content);
    const redaction = await this.#findRedaction(idx);
    const expected = redaction === undefined ? logged?.['task'] : redaction.remains;
    if (logged === undefined || digest === undefined || expected !== digest) {
      const problem = 'its stored content differs from the log';
      this.fail({ position, record, layer: 'entry', problem }, expected, digest);
    } else if (redaction !== undefined && !isWithoutText(event?.content ?? '', redaction.note)) {
      const problem = `it was redacted by entry ${redaction.index} and has text`;
      this.fail({ position, record, layer: 'entry', problem }, redaction.note, 'other content');
    } else {
      const defect = entryDefect(logged) ?? taskDefect(event?.content ?? '');
      if (defect !== undefined) {
        const problem = `it breaks the grammar of a task event: it ${defect}`;
        this.fail({ position, record, layer: 'entry', problem }, undefined, defect);
      } else if (!isOfEvent(logged, event?.content ?? '')) {
        const problem = 'the log names another task, time or actor than its content';
        this.fail({ position, record, layer: 'entry', problem }, logged.actor, event?.content);
      }
    }
    await this.#leaf(position, record, idx);
    this.#note(position, record, storedLeaf(entry));
  }

  /** Checks the start of a session, its seal, and that no seal in the log is missing from its row. */
  async session(session: SessionRow): Promise<void> {
    const { start_idx, finalized_idx } = session;
    const record = formatSessionId(session.session_no);
    const problems = checkStart(session, {
      index: start_idx,
      entry: await this.#entry(start_idx),
      redaction: await this.#source.redactions.find(start_idx),
    });
    await this.#leaf(0, record, start_idx);
    if (finalized_idx === null) {
      const { db, log } = this.#source;
      const hidden = log?.hasSeal(session.session_no) === false ? undefined : await findHiddenSeal(db, session);
      if (hidden !== undefined)
        problems.push({ problem: `was sealed by entry ${hidden}`, expected: hidden, actual: finalized_idx });
    } else {
      problems.push(...(await checkSeal(this.#source.db, session, finalized_idx, await this.#entry(finalized_idx))));
      await this.#leaf(0, record, finalized_idx);
    }
    for (const { problem, expected, actual } of problems)
      this.fail({ position: 0, record, layer: 'session', problem }, expected, actual);
  }

  async #findRedaction(index: number): Promise<LoggedRedaction | undefined> {
    const redaction = await this.#source.redactions.find(index);
    if (redaction !== undefined) this.redacted += 1;
    return redaction;
  }

  async #entry(index: number): Promise<Entry | undefined> {
    const [row] = await this.#source.db.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [
      index,
    ]);
    return row && parseEntry(row.entry);
  }

  async #leaf(position: number, record: string, index: number): Promise<void> {
    if (await this.#source.leaves.holds(index)) return;
    const problem = `entry ${index} does not match the tree above it`;
    this.fail({ position, record, layer: 'log', problem }, 'the stored node', 'another hash');
  }

  #add(link: BrokenLink): void {
    // All defects of a record are reported consecutively.
    if (link.record !== this.#lastDefective) this.defective += 1;
    this.#lastDefective = link.record;
    this.brokenTotal += 1;
    if (this.broken.length < MAX_BROKEN) this.broken.push(link);
    this.#source.hasher.refute();
  }

  #note(position: number, record: string, hash: string): void {
    this.total += 1;
    if (this.#withTrace && this.trace.length < MAX_TRACE) this.trace.push({ position, record, hash });
  }
}
