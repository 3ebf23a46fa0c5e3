import type { Reader } from '../../db/database.ts';
import {
  type Digest,
  type ExitFields,
  findAnswer,
  findArguments,
  isOutcome,
  isTime,
  isUuid,
} from '../../integrity/index.ts';
import type { ClaimCheck } from './deferred-digest.ts';
import { toByteText } from './latin1-text.ts';
import { countOf, escapeText, type Fields, fieldsSql, isCount, readFields, unescapeText } from './packed-rows.ts';
import type { StoredPage } from './page.ts';

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

/** What has to be known of a call until it is left. */
export type OpenCall = Pick<CallRow, 'sequence_no' | 'actor' | 'exit_idx' | 'exited_at' | 'outcome' | 'duration_ms'>;

export interface ForeseenCalls {
  /** Of the enter and exit entries that say exactly what the rows say. */
  readonly indexes: readonly number[];
  /** How many calls were entered in this page. */
  readonly count: number;
  /** Calls that were entered in this page and are left in a later one. */
  readonly entered: readonly OpenCall[];
  /** Calls of earlier pages that are left in this one. */
  readonly left: readonly number[];
}

const NUMBERS = ['sequence_no', 'exit_idx', 'duration_ms'];
const STRINGS = ['tool', 'actor', 'process_id', 'entered_at', 'exited_at', 'outcome'];
const WIDTH = NUMBERS.length + STRINGS.length;
const CALLS = fieldsSql({
  numbers: NUMBERS,
  strings: STRINGS,
  content: 'arguments',
  from: 'calls WHERE sequence_no >= $1 AND sequence_no < $2',
});

/** A row as `readFields` gives it. */
interface CallFields extends ExitFields {
  readonly exit_idx: string;
  readonly tool: string;
  readonly process_id: string;
  readonly entered_at: string;
}

/** Undefined when a row of this page is not exactly what the entries say, or is of a call that did not end well. */
export async function foreseeCalls(
  reader: Reader,
  open: ReadonlyMap<number, OpenCall>,
  page: StoredPage,
  claims: ClaimCheck,
): Promise<ForeseenCalls | undefined> {
  const end = page.begin + page.texts.length;
  const found = await readFields(reader, CALLS, WIDTH, [page.begin, end]);
  if (found === undefined) return undefined;
  const indexes: number[] = [];
  const entered: OpenCall[] = [];
  const isMet = new Uint8Array(end - page.begin);
  let claimed = '';
  for (let place = 0; place < found.total; place += 1) {
    const call = callAt(found, place);
    const index = countOf(call.sequence_no);
    const exitIndex = countOf(call.exit_idx);
    const digest = enteredWith(page, index, call);
    if (digest === undefined || isMet[index - page.begin] === 1) return undefined;
    isMet[index - page.begin] = 1;
    claimed += digest;
    indexes.push(index);
    if (exitIndex >= end) entered.push(toOpen(call));
    else if (exitIndex > index && isLeft(page, exitIndex, call)) indexes.push(exitIndex);
    else return undefined;
  }
  if (!claims.holds({ label: 'arguments', bytes: found.contents, claimed })) return undefined;
  const left: number[] = [];
  for (const row of open.values()) {
    if (typeof row.exit_idx !== 'number' || row.exit_idx < page.begin || row.exit_idx >= end) continue;
    const exit = exitOf(row);
    if (exit === undefined || !isLeft(page, row.exit_idx, exit)) return undefined;
    indexes.push(row.exit_idx);
    left.push(row.sequence_no);
  }
  return { indexes, count: found.total, entered, left };
}

function callAt({ fields }: Fields, place: number): CallFields {
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
  };
}

/** The digest of its arguments by its enter entry; undefined unless that says exactly what the row says. */
function enteredWith({ begin, kinds, texts }: StoredPage, index: number, call: CallFields): Digest | undefined {
  if (index === 0 || kinds[index - begin] !== 'action.enter') return undefined;
  const { actor, entered_at: at, process_id, tool } = call;
  if (!isTime(at) || !isUuid(process_id)) return undefined;
  return findArguments(texts[index - begin] ?? '', { actor, at, process_id, tool });
}

function isLeft({ begin, kinds, texts }: StoredPage, index: number, exit: ExitFields): boolean {
  return (
    kinds[index - begin] === 'action.exit' &&
    isCount(exit.duration_ms) &&
    isTime(exit.at) &&
    isOutcome(exit.outcome) &&
    findAnswer(texts[index - begin] ?? '', exit) !== undefined
  );
}

function toOpen(call: CallFields): OpenCall {
  return {
    sequence_no: Number(call.sequence_no),
    actor: unescapeText(call.actor),
    exit_idx: Number(call.exit_idx),
    exited_at: unescapeText(call.at),
    outcome: unescapeText(call.outcome),
    duration_ms: Number(call.duration_ms),
  };
}

/** A row that was read by itself may hold anything. */
function exitOf({ sequence_no, actor, exited_at, outcome, duration_ms }: OpenCall): ExitFields | undefined {
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
