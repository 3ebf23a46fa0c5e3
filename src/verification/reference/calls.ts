import type { Reader } from '../../db/database.ts';
import { argumentsDefect, type Entry, storedDigest } from '../../integrity/index.ts';
import type { OpenCall, ProvenCalls } from '../page-proof.ts';
import type { Report } from '../report.ts';
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

/** Bounds the report: a forger can add a million rows. */
const MAX_NAMED = 10;

/** Checks the arguments beside every enter entry, and the tables of open calls and of exits. */
export class CallCheck {
  /** Grows with the number of processes, not of calls. */
  readonly open = new Map<number, OpenCall>();
  readonly #reader: Reader;
  readonly #report: Report;
  #exits = 0;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  accept({ exits, entered, left }: ProvenCalls): void {
    this.#exits += exits;
    for (const [sequenceNo, call] of entered) this.open.set(sequenceNo, call);
    for (const sequenceNo of left) this.open.delete(sequenceNo);
  }

  async page(entries: readonly LoggedEntry[], begin: number, end: number): Promise<void> {
    const contents = await this.#readContents(begin, end);
    const ended = await this.#readExits(begin, end);
    for (const { index, entry } of entries) {
      if (entry.kind === 'action.exit' || entry.kind === 'action.interrupted') this.#exit(index, entry);
      if (entry.kind !== 'action.enter') continue;
      this.#enter(index, entry, contents.get(index), ended.get(index)?.exit_idx ?? null);
      if (ended.delete(index)) this.#exits += 1;
      contents.delete(index);
    }
    for (const index of contents.keys())
      this.#report(`entry ${index}`, 'has a salt or content beside it, which only an enter entry has');
    for (const sequenceNo of ended.keys()) this.#report(`call ${sequenceNo}`, 'has no enter entry');
  }

  async finish(size: number): Promise<void> {
    for (const [sequenceNo, { exit_idx }] of this.open)
      if (exit_idx !== null) this.#report(`call ${sequenceNo}`, 'is stored as finished and has no exit entry');
    await this.#checkOpenCalls();
    const outside = await this.#reader.query(
      'SELECT 1 FROM call_exits WHERE sequence_no < 0 OR sequence_no >= $1 LIMIT 1',
      [size],
    );
    if (outside.length > 0) this.#report('call_exits', 'has rows that no entry accounts for');
    const [counted] = await this.#reader.query<{ exits: number }>('SELECT COUNT(*) AS exits FROM call_exits');
    if (counted?.exits !== this.#exits)
      this.#report('call_exits', `has ${counted?.exits} rows where the log has ${this.#exits} calls that ended`);
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

  #enter(index: number, entry: Entry, row: ContentRow | undefined, exitIndex: number | null): void {
    this.open.set(index, { actor: entry.actor, exit_idx: exitIndex });
    if (row === undefined) return this.#report(`call ${index}`, 'has no arguments');
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

  async #checkOpenCalls(): Promise<void> {
    const rows = await this.#reader.query<{ sequence_no: number }>(
      'SELECT sequence_no FROM open_calls ORDER BY sequence_no LIMIT $1',
      [this.open.size + MAX_NAMED],
    );
    const listed = indexRows(
      rows,
      ({ sequence_no }) => sequence_no,
      (sequenceNo) => this.#report(`call ${sequenceNo}`, STORED_TWICE),
    );
    for (const sequenceNo of this.open.keys())
      if (!listed.delete(sequenceNo)) this.#report(`call ${sequenceNo}`, 'is open and not listed in open_calls');
    for (const sequenceNo of listed.keys())
      this.#report(`call ${sequenceNo}`, 'is listed in open_calls and is not open');
  }
}
