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
import type { Hasher } from '../hashing.ts';
import { toLatin1 } from '../latin1-text.ts';
import type { OpenCall, ProvenCalls } from '../page-proof.ts';
import type { StoredPage } from '../stored-page.ts';
import {
  countOf,
  escapeText,
  isCount,
  type PackedRows,
  packedRowsSql,
  readPackedRows,
  unescapeText,
} from './packed-rows.ts';

const NUMBERS = ['sequence_no', 'exit_idx', 'duration_ms'];
const STRINGS = ['tool', 'actor', 'process_id', 'entered_at', 'exited_at', 'outcome'];
const WIDTH = NUMBERS.length + STRINGS.length;
const CALLS = packedRowsSql({
  numbers: NUMBERS,
  strings: STRINGS,
  content: 'arguments',
  from: 'calls WHERE sequence_no >= $1 AND sequence_no < $2',
});

/** One row of packed values. */
interface CallFields extends ExitFields {
  readonly exit_idx: string;
  readonly tool: string;
  readonly process_id: string;
  readonly entered_at: string;
}

/** Returns undefined unless each row says exactly what its entries say. */
export async function proveCalls(
  reader: Reader,
  open: ReadonlyMap<number, OpenCall>,
  page: StoredPage,
  hasher: Hasher,
): Promise<ProvenCalls | undefined> {
  const end = page.begin + page.texts.length;
  const found = await readPackedRows(reader, CALLS, WIDTH, [page.begin, end]);
  if (found === undefined) return undefined;
  const indexes: number[] = [];
  const entered: OpenCall[] = [];
  const isSeen = new Uint8Array(end - page.begin);
  let expected = '';
  for (let place = 0; place < found.total; place += 1) {
    const call = callAt(found, place);
    const index = countOf(call.sequence_no);
    const exitIndex = countOf(call.exit_idx);
    const digest = enteredWith(page, index, call);
    if (digest === undefined || isSeen[index - page.begin] === 1) return undefined;
    isSeen[index - page.begin] = 1;
    expected += digest;
    indexes.push(index);
    if (exitIndex >= end) entered.push(toOpen(call));
    else if (exitIndex > index && isLeft(page, exitIndex, call)) indexes.push(exitIndex);
    else return undefined;
  }
  if (hasher.compare({ label: 'arguments', bytes: found.contents, expected }) === 'different') return undefined;
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

function callAt({ fields }: PackedRows, place: number): CallFields {
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

/** The digest of the arguments in the enter entry; undefined unless the entry says exactly what the row says. */
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

/** A row that the reference read may contain anything. */
function exitOf({ sequence_no, actor, exited_at, outcome, duration_ms }: OpenCall): ExitFields | undefined {
  if (typeof actor !== 'string' || typeof exited_at !== 'string') return undefined;
  if (typeof outcome !== 'string' || typeof duration_ms !== 'number') return undefined;
  return {
    actor: escapeText(toLatin1(actor)),
    at: escapeText(toLatin1(exited_at)),
    duration_ms: String(duration_ms),
    outcome: escapeText(toLatin1(outcome)),
    sequence_no: String(sequence_no),
  };
}
