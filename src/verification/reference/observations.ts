import type { Reader } from '../../db/database.ts';
import { parseId } from '../../ids.ts';
import {
  type Attachment,
  canonicalize,
  claimAfterEvent,
  commitKey,
  coverageDefect,
  ENTRY_KINDS,
  type Entry,
  isErasable,
  listAttachments,
  type OpenCalls,
  observedContentDefect,
  openCallsAfter,
  reportSession,
  storedDigest,
} from '../../integrity/index.ts';
import { type EntryRange, erasureDefect, type LoggedRedaction } from '../redactions/finder.ts';
import type { Report } from '../report.ts';
import type { LoggedEntry } from './stored-entries.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

interface ObservationRow {
  readonly idx: number;
  readonly key: unknown;
  readonly task_no: unknown;
  readonly salt: unknown;
  readonly content: unknown;
  readonly report_session: unknown;
}

interface SessionRow {
  readonly session: unknown;
  readonly last_idx: unknown;
  readonly task_no: unknown;
  readonly claim_idx: unknown;
  readonly open_calls: unknown;
}

interface SessionState {
  readonly lastIndex: number;
  readonly task: unknown;
  readonly claim: number | null;
  readonly openCalls: OpenCalls;
}

type ObservedKind = Parameters<typeof observedContentDefect>[0];

/** Compares the stored observations, and what is known about the sessions of clients, with the entries. */
export class ObservationCheck {
  readonly #reader: Reader;
  readonly #report: Report;
  /** Grows with the number of client sessions, and of sub-agents that claim tasks, not of their events. */
  readonly #sessions = new Map<string, SessionState>();
  #entries = 0;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  async page(entries: readonly LoggedEntry[], { begin, end, redactions }: EntryRange): Promise<void> {
    const observed = entries.filter(({ entry }) => isObserved(entry));
    if (observed.length === 0) return;
    const rows = await this.#read(begin, end);
    for (const { index, entry } of observed) this.#check(index, entry, rows.get(index), redactions.get(index));
    this.#entries += observed.length;
  }

  /** Every entry has its row, so another number of rows means that there are orphans. */
  async finish(): Promise<void> {
    const [counted] = await this.#reader.query<{ rows: number }>('SELECT COUNT(*) AS rows FROM observations');
    if (counted?.rows !== this.#entries)
      this.#report('observations', `has ${counted?.rows} rows where the log has ${this.#entries} entries`);
    await this.#checkSessions();
  }

  async #read(begin: number, end: number): Promise<Map<number, ObservationRow>> {
    const rows = await this.#reader.query<ObservationRow>(
      'SELECT idx, key, task_no, salt, content, report_session FROM observations WHERE idx >= $1 AND idx < $2',
      [begin, end],
    );
    return indexRows(
      rows,
      ({ idx }) => idx,
      (index) => this.#report(`entry ${index}`, STORED_TWICE),
    );
  }

  #check(index: number, entry: Entry, row: ObservationRow | undefined, redaction: LoggedRedaction | undefined): void {
    const place = `entry ${index}`;
    const taskNo = taskOf(entry['task_id']);
    const session = entry['session'];
    if (entry.kind === 'observed' && typeof session === 'string')
      for (const held of listAttachments(entry))
        this.#sessions.set(held.key, stateAfter(this.#sessions.get(held.key), held, entry, index));
    if (entry.kind === 'observed.commit' && entry['key'] !== keyOf(entry))
      this.#report(place, 'has another key than its commit');
    if (row === undefined) return this.#report(place, 'has no row in observations');
    if (row.key !== entry['key']) this.#report(place, 'is stored under another key');
    if (row.task_no !== taskNo) this.#report(place, 'is stored under another task');
    if (row.report_session !== reportSession(entry)) this.#report(place, 'is stored under another session');
    const defect =
      redaction !== undefined && isErasable(entry.kind)
        ? erasureDefect(entry.kind, redaction, row)
        : contentDefect(entry, row);
    if (defect !== undefined) this.#report(place, defect);
  }

  async #checkSessions(): Promise<void> {
    const [counted] = await this.#reader.query<{ rows: number }>('SELECT COUNT(*) AS rows FROM observed_sessions');
    if (counted?.rows !== this.#sessions.size)
      this.#report('observed_sessions', `has ${counted?.rows} rows where the log has ${this.#sessions.size} sessions`);
    for (const [session, state] of this.#sessions) {
      const { lastIndex } = state;
      const [row] = await this.#reader.query<SessionRow>(
        'SELECT session, last_idx, task_no, claim_idx, open_calls FROM observed_sessions WHERE session = $1',
        [session],
      );
      if (row === undefined) this.#report('observed_sessions', `has no row for the session of entry ${lastIndex}`);
      else if (!isStateOf(row, state))
        this.#report('observed_sessions', `differs from entry ${lastIndex}, the last one of its session`);
    }
  }
}

function contentDefect(entry: Entry, { salt, content }: ObservationRow): string | undefined {
  if (typeof content !== 'string' || storedDigest('observed-content', salt, content) !== entry['content'])
    return 'has no stored content that matches its digest';
  const defect = observedContentDefect(entry.kind as ObservedKind, content);
  if (defect !== undefined) return `has content that breaks the grammar: the text ${defect}`;
  return entry.kind === 'observed.coverage' ? coverageDefect(entry, content) : undefined;
}

function stateAfter(before: SessionState | undefined, held: Attachment, entry: Entry, index: number): SessionState {
  const { task, claim, openCalls } = before ?? { task: undefined, claim: null, openCalls: {} };
  return {
    lastIndex: index,
    task: held.task,
    claim: claimAfterEvent({ task, claim }, held),
    // The row of a session has the open calls of its sub-agents, too; the row of a sub-agent has none.
    openCalls: held.key === entry['session'] ? openCallsAfter(openCalls, entry, index) : {},
  };
}

function isStateOf(row: SessionRow, { lastIndex, task, claim, openCalls }: SessionState): boolean {
  const open = Object.keys(openCalls).length === 0 ? null : canonicalize(openCalls);
  return (
    row.last_idx === lastIndex && row.task_no === taskOf(task) && row.claim_idx === claim && row.open_calls === open
  );
}

const OBSERVED: ReadonlySet<string> = new Set(ENTRY_KINDS.filter((kind) => kind.startsWith('observed')));

function isObserved(entry: Entry): boolean {
  return OBSERVED.has(entry.kind);
}

function keyOf({ sha, rewrites }: Entry): string {
  return commitKey(typeof sha === 'string' ? sha : '', typeof rewrites === 'string' ? rewrites : undefined);
}

function taskOf(taskId: unknown): number | null {
  return typeof taskId === 'string' ? parseId(taskId) : null;
}
