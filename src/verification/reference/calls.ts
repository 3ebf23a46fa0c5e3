import type { Reader } from '../../db/database.ts';
import { argumentsDefect, type Entry, storedDigest } from '../../integrity/index.ts';
import type { CallRow, OpenCall, ProvenCalls } from '../page-proof.ts';
import type { Report } from '../report.ts';
import type { LoggedEntry } from './stored-entries.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

/** Compares every call with its enter entry and its exit entry. */
export class CallCheck {
  /** Grows with the number of processes, not of calls. */
  readonly open = new Map<number, OpenCall>();
  readonly #reader: Reader;
  readonly #report: Report;
  #entered = 0;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  accept({ count, entered, left }: ProvenCalls): void {
    this.#entered += count;
    for (const row of entered) this.open.set(row.sequence_no, row);
    for (const sequenceNo of left) this.open.delete(sequenceNo);
  }

  async page(entries: readonly LoggedEntry[], begin: number, end: number): Promise<void> {
    const rows = await this.#reader.query<CallRow>('SELECT * FROM calls WHERE sequence_no >= $1 AND sequence_no < $2', [
      begin,
      end,
    ]);
    const unaccounted = indexRows(
      rows,
      ({ sequence_no }) => sequence_no,
      (sequenceNo) => this.#report(`call ${sequenceNo}`, STORED_TWICE),
    );
    for (const { index, entry } of entries) {
      if (entry.kind === 'action.exit' || entry.kind === 'action.interrupted') this.#exit(index, entry);
      if (entry.kind !== 'action.enter') continue;
      this.#enter(index, entry, unaccounted.get(index));
      unaccounted.delete(index);
      this.#entered += 1;
    }
    for (const sequenceNo of unaccounted.keys()) this.#report(`call ${sequenceNo}`, 'has no enter entry');
  }

  async finish(size: number): Promise<void> {
    for (const [sequenceNo, row] of this.open) {
      const isOpen = [row.exit_idx, row.exited_at, row.outcome, row.duration_ms].every((column) => column === null);
      if (!isOpen) this.#report(`call ${sequenceNo}`, 'is stored as finished and has no exit entry');
    }
    const outside = await this.#reader.query('SELECT 1 FROM calls WHERE sequence_no < 0 OR sequence_no >= $1 LIMIT 1', [
      size,
    ]);
    if (outside.length > 0) this.#report('calls', 'has rows that no entry accounts for');
    const [counted] = await this.#reader.query<{ calls: number }>('SELECT COUNT(*) AS calls FROM calls');
    if (counted?.calls !== this.#entered)
      this.#report('calls', `has ${counted?.calls} rows where the log has ${this.#entered} calls`);
  }

  #enter(index: number, entry: Entry, row: CallRow | undefined): void {
    if (row === undefined) return this.#report(`call ${index}`, 'is missing');
    this.open.set(index, row);
    const isSame =
      row.tool === entry['tool'] &&
      row.actor === entry.actor &&
      row.process_id === entry['process_id'] &&
      row.entered_at === entry.at &&
      storedDigest('arguments', row.salt, row.arguments) === entry['arguments'];
    if (!isSame) return this.#report(`call ${index}`, 'differs from its enter entry');
    const defect = argumentsDefect(row.arguments);
    if (defect !== undefined) this.#report(`call ${index}`, `has arguments that break the grammar: the text ${defect}`);
  }

  #exit(index: number, entry: Entry): void {
    const sequenceNo = Number(entry['sequence_no']);
    const row = this.open.get(sequenceNo);
    if (row === undefined) return this.#report(`entry ${index}`, `closes call ${sequenceNo}, which is not open`);
    this.open.delete(sequenceNo);
    const isSame =
      row.exit_idx === index &&
      row.exited_at === entry.at &&
      (entry.kind === 'action.interrupted' || row.actor === entry.actor) &&
      row.outcome === (entry.kind === 'action.exit' ? entry['outcome'] : 'interrupted') &&
      row.duration_ms === (entry['duration_ms'] ?? null);
    if (!isSame) this.#report(`call ${sequenceNo}`, 'differs from its exit entry');
  }
}
