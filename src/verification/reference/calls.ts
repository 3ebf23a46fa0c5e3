import type { Reader } from '../../db/database.ts';
import { argumentsDefect, type Entry, storedDigest } from '../../integrity/index.ts';
import { REMEMBERED_ACTORS } from '../../ledger/presence/stale-rows.ts';
import type { OpenCall, ProvenCalls } from '../page-proof.ts';
import { type EntryRange, erasureDefect, type LoggedRedaction } from '../redactions/finder.ts';
import type { Report } from '../report.ts';
import { checkPresence } from './presence.ts';
import type { LoggedEntry } from './stored-entries.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

interface ContentRow {
  readonly idx: number;
  readonly salt: string | null;
  readonly content: string | null;
}

interface ExitRow {
  readonly sequence_no: number;
  readonly exit_idx: number;
}

/** Checks the arguments beside every enter entry, and the tables of exits and of signs of life. */
export class CallCheck {
  /** Grows with the number of processes, not of calls. */
  readonly open = new Map<number, OpenCall>();
  readonly #reader: Reader;
  readonly #report: Report;
  /** The newest call of each actor. */
  readonly #lastCalls = new Map<string, number>();
  #exits = 0;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  accept({ exits, entered, lastCalls, left }: ProvenCalls): void {
    this.#exits += exits;
    for (const [sequenceNo, call] of entered) this.open.set(sequenceNo, call);
    for (const [actor, sequenceNo] of lastCalls) this.#lastCalls.set(actor, sequenceNo);
    for (const sequenceNo of left) this.open.delete(sequenceNo);
  }

  async page(entries: readonly LoggedEntry[], { begin, end, redactions }: EntryRange): Promise<void> {
    const contents = await this.#readContents(begin, end);
    const ended = await this.#readExits(begin, end);
    for (const { index, entry } of entries) {
      if (entry.kind === 'action.exit' || entry.kind === 'action.interrupted') this.#exit(index, entry);
      if (entry.kind !== 'action.enter') continue;
      this.open.set(index, { actor: entry.actor, exit_idx: ended.get(index)?.exit_idx ?? null });
      this.#lastCalls.set(entry.actor, index);
      this.#checkArguments(index, entry, contents.get(index), redactions.get(index));
      if (ended.delete(index)) this.#exits += 1;
      contents.delete(index);
    }
    for (const index of contents.keys())
      this.#report(`entry ${index}`, 'has a salt or content beside it, which only an enter entry has');
    for (const sequenceNo of ended.keys()) this.#report(`call ${sequenceNo}`, 'has no enter entry');
  }

  /** `holders` are the actors that hold a task at the end of the log. */
  async finish(size: number, holders: ReadonlySet<string>): Promise<void> {
    for (const [sequenceNo, { exit_idx }] of this.open)
      if (exit_idx !== null) this.#report(`call ${sequenceNo}`, 'is stored as finished and has no exit entry');
    await checkPresence(
      this.#reader,
      { open: [...this.open.keys()], lastCalls: this.#requiredCalls(holders) },
      this.#report,
    );
    const outside = await this.#reader.query(
      'SELECT 1 FROM call_exits WHERE sequence_no < 0 OR sequence_no >= $1 LIMIT 1',
      [size],
    );
    if (outside.length > 0) this.#report('call_exits', 'has rows that no entry accounts for');
    const [counted] = await this.#reader.query<{ exits: number }>('SELECT COUNT(*) AS exits FROM call_exits');
    if (counted?.exits !== this.#exits)
      this.#report('call_exits', `has ${counted?.exits} rows where the log has ${this.#exits} calls that ended`);
  }

  /** The newest calls of the actors that hold a task and of those that called last: others may have been removed. */
  #requiredCalls(holders: ReadonlySet<string>): number[] {
    return [...this.#lastCalls]
      .toSorted(([, one], [, other]) => other - one)
      .filter(([actor], rank) => rank < REMEMBERED_ACTORS || holders.has(actor))
      .map(([, sequenceNo]) => sequenceNo);
  }

  async #readContents(begin: number, end: number): Promise<Map<number, ContentRow>> {
    const rows = await this.#reader.query<ContentRow>(
      `SELECT idx, salt, content FROM ledger_entries
       WHERE idx >= $1 AND idx < $2 AND (salt IS NOT NULL OR content IS NOT NULL)`,
      [begin, end],
    );
    return indexRows(
      rows,
      ({ idx }) => idx,
      (index) => this.#report(`entry ${index}`, STORED_TWICE),
    );
  }

  async #readExits(begin: number, end: number): Promise<Map<number, ExitRow>> {
    const rows = await this.#reader.query<ExitRow>(
      'SELECT sequence_no, exit_idx FROM call_exits WHERE sequence_no >= $1 AND sequence_no < $2',
      [begin, end],
    );
    return indexRows(
      rows,
      ({ sequence_no }) => sequence_no,
      (sequenceNo) => this.#report(`call ${sequenceNo}`, STORED_TWICE),
    );
  }

  #checkArguments(
    index: number,
    entry: Entry,
    row: ContentRow | undefined,
    redaction: LoggedRedaction | undefined,
  ): void {
    if (row === undefined) return this.#report(`call ${index}`, 'has no arguments');
    if (redaction !== undefined) {
      const remainder = erasureDefect('action.enter', redaction, row);
      return remainder === undefined ? undefined : this.#report(`call ${index}`, remainder);
    }
    if (storedDigest('arguments', row.salt, row.content) !== entry['arguments'])
      return this.#report(`call ${index}`, 'has arguments that differ from its enter entry');
    const defect = argumentsDefect(row.content ?? '');
    if (defect !== undefined) this.#report(`call ${index}`, `has arguments that break the grammar: the text ${defect}`);
  }

  #exit(index: number, entry: Entry): void {
    const sequenceNo = Number(entry['sequence_no']);
    const call = this.open.get(sequenceNo);
    if (call === undefined) return this.#report(`entry ${index}`, `closes call ${sequenceNo}, which is not open`);
    this.open.delete(sequenceNo);
    if (call.exit_idx !== index)
      return this.#report(`call ${sequenceNo}`, `is not stored as ended by its exit entry ${index}`);
    if (entry.kind === 'action.exit' && call.actor !== entry.actor)
      this.#report(`call ${sequenceNo}`, 'has an exit entry by another actor');
  }
}
