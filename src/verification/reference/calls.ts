import { argumentsDefect, type Entry, storedDigest } from '../../integrity/index.ts';
import { type CallRow, foreseeCalls, type OpenCall } from '../fast/calls.ts';
import type { Projection, Report } from '../verify-log.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

const KINDS: ReadonlySet<string> = new Set(['action.enter', 'action.exit', 'action.interrupted']);

/** Every call against its enter entry and its exit entry. */
export const checkCalls: Projection = (reader, report) => {
  const check = new CallCheck(report);
  let foreseenUntil = 0;
  let entered = 0;
  return {
    async foresee(page, claims) {
      const foreseen = await foreseeCalls(reader, check.open, page, claims);
      if (foreseen === undefined) return undefined;
      const accept = () => {
        entered += foreseen.count;
        for (const row of foreseen.entered) check.open.set(row.sequence_no, row);
        for (const sequenceNo of foreseen.left) check.open.delete(sequenceNo);
        foreseenUntil = page.begin + page.texts.length;
      };
      return { kinds: KINDS, indexes: foreseen.indexes, accept };
    },
    async page(entries, begin, end) {
      if (begin < foreseenUntil) return;
      const rows = await reader.query<CallRow>('SELECT * FROM calls WHERE sequence_no >= $1 AND sequence_no < $2', [
        begin,
        end,
      ]);
      const unaccounted = indexRows(
        rows,
        ({ sequence_no }) => sequence_no,
        (sequenceNo) => report(`call ${sequenceNo}`, STORED_TWICE),
      );
      for (const { index, entry } of entries) {
        if (entry.kind === 'action.exit' || entry.kind === 'action.interrupted') check.exit(index, entry);
        if (entry.kind !== 'action.enter') continue;
        check.enter(index, entry, unaccounted.get(index));
        unaccounted.delete(index);
        entered += 1;
      }
      for (const sequenceNo of unaccounted.keys()) report(`call ${sequenceNo}`, 'has no enter entry');
    },
    async finish(size) {
      check.finish();
      const beyond = await reader.query('SELECT 1 FROM calls WHERE sequence_no < 0 OR sequence_no >= $1 LIMIT 1', [
        size,
      ]);
      if (beyond.length > 0) report('calls', 'has rows that no entry accounts for');
      const [counted] = await reader.query<{ calls: number }>('SELECT COUNT(*) AS calls FROM calls');
      if (counted?.calls !== entered) report('calls', `has ${counted?.calls} rows where the log has ${entered} calls`);
    },
  };
};

class CallCheck {
  /** Entered and not yet left: as many as there are processes, not as there are calls. */
  readonly open = new Map<number, OpenCall>();

  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  finish(): void {
    for (const [sequenceNo, row] of this.open) {
      const isOpen = [row.exit_idx, row.exited_at, row.outcome, row.duration_ms].every((column) => column === null);
      if (!isOpen) this.#report(`call ${sequenceNo}`, 'is stored as finished and has no exit entry');
    }
  }

  enter(index: number, entry: Entry, row: CallRow | undefined): void {
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

  exit(index: number, entry: Entry): void {
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
