import type { Reader } from '../db/database.ts';
import { type ExitFields, enterText, isExitText, storedDigest } from '../integrity/index.ts';
import { toByteText } from './byte-text.ts';
import { countOf, escapeText, type Fields, fieldsSql, isCount, readFields, unescapeText } from './read-fields.ts';
import type { StoredPage } from './read-page.ts';

export interface CallRow {
  readonly sequence_no: number;
  readonly tool: string;
  readonly actor: string;
  readonly process_id: string;
  readonly entered_at: string;
  readonly arguments: string;
  readonly salt: string;
  readonly exit_idx: number | null;
  readonly exited_at: string | null;
  readonly outcome: string | null;
  readonly duration_ms: number | null;
}

export interface ForeseenCalls {
  /** Of the enter and exit entries that say exactly what the rows say. */
  readonly indexes: readonly number[];
  /** Calls that were entered in this page and are left in a later one. */
  readonly entered: readonly CallRow[];
  /** Calls of earlier pages that are left in this one. */
  readonly left: readonly number[];
}

const NUMBERS = ['sequence_no', 'exit_idx', 'duration_ms'];
const STRINGS = ['tool', 'actor', 'process_id', 'entered_at', 'exited_at', 'outcome', 'salt'];
const WIDTH = NUMBERS.length + STRINGS.length;
const CALLS = fieldsSql({
  numbers: NUMBERS,
  strings: STRINGS,
  raw: 'arguments',
  from: 'calls WHERE sequence_no >= $1 AND sequence_no < $2',
});

/** A row as `readFields` gives it. */
interface CallFields extends ExitFields {
  readonly exit_idx: string;
  readonly tool: string;
  readonly process_id: string;
  readonly entered_at: string;
  readonly salt: string;
  readonly argumentsText: string;
}

/** Undefined when a row of this page is not exactly what the entries say, or is of a call that did not end well. */
export async function foreseeCalls(
  reader: Reader,
  open: ReadonlyMap<number, CallRow>,
  page: StoredPage,
): Promise<ForeseenCalls | undefined> {
  const end = page.begin + page.texts.length;
  const found = await readFields(reader, CALLS, WIDTH, [page.begin, end]);
  if (found === undefined) return undefined;
  const indexes: number[] = [];
  const entered: CallRow[] = [];
  for (let place = 0; place < found.raws.length; place += 1) {
    const call = callAt(found, place);
    const index = countOf(call.sequence_no);
    const exitIndex = countOf(call.exit_idx);
    if (!isEntered(page, index, call)) return undefined;
    indexes.push(index);
    if (exitIndex >= end) entered.push(toRow(call));
    else if (exitIndex > index && isLeft(page, exitIndex, call)) indexes.push(exitIndex);
    else return undefined;
  }
  const left: number[] = [];
  for (const row of open.values()) {
    if (typeof row.exit_idx !== 'number' || row.exit_idx < page.begin || row.exit_idx >= end) continue;
    const exit = exitOf(row);
    if (exit === undefined || !isLeft(page, row.exit_idx, exit)) return undefined;
    indexes.push(row.exit_idx);
    left.push(row.sequence_no);
  }
  return { indexes, entered, left };
}

function callAt({ fields, raws }: Fields, place: number): CallFields {
  const first = place * WIDTH;
  return {
    sequence_no: fields[first] as string,
    exit_idx: fields[first + 1] as string,
    duration_ms: fields[first + 2] as string,
    tool: fields[first + 3] as string,
    actor: fields[first + 4] as string,
    process_id: fields[first + 5] as string,
    entered_at: fields[first + 6] as string,
    at: fields[first + 7] as string,
    outcome: fields[first + 8] as string,
    salt: fields[first + 9] as string,
    argumentsText: raws[place] as string,
  };
}

function isEntered({ begin, kinds, texts }: StoredPage, index: number, call: CallFields): boolean {
  const { actor, entered_at: at, process_id, tool } = call;
  const digest = storedDigest('arguments', call.salt, call.argumentsText);
  if (digest === undefined || index === 0) return false;
  return (
    kinds[index - begin] === 'action.enter' &&
    texts[index - begin] === enterText({ actor, arguments: digest, at, process_id, tool })
  );
}

function isLeft({ begin, kinds, texts }: StoredPage, index: number, exit: ExitFields): boolean {
  return (
    kinds[index - begin] === 'action.exit' && isCount(exit.duration_ms) && isExitText(texts[index - begin] ?? '', exit)
  );
}

function toRow(call: CallFields): CallRow {
  return {
    sequence_no: Number(call.sequence_no),
    tool: unescapeText(call.tool),
    actor: unescapeText(call.actor),
    process_id: unescapeText(call.process_id),
    entered_at: unescapeText(call.entered_at),
    arguments: call.argumentsText,
    salt: call.salt,
    exit_idx: Number(call.exit_idx),
    exited_at: unescapeText(call.at),
    outcome: unescapeText(call.outcome),
    duration_ms: Number(call.duration_ms),
  };
}

/** A row that was read by itself may hold anything. */
function exitOf({ sequence_no, actor, exited_at, outcome, duration_ms }: CallRow): ExitFields | undefined {
  if (typeof actor !== 'string' || typeof exited_at !== 'string') return undefined;
  if (typeof outcome !== 'string' || typeof duration_ms !== 'number') return undefined;
  return {
    actor: escapeText(toByteText(actor)),
    at: escapeText(toByteText(exited_at)),
    duration_ms: String(duration_ms),
    outcome: escapeText(toByteText(outcome)),
    sequence_no: String(sequence_no),
  };
}
