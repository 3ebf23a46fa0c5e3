import type { Reader } from '../../db/database.ts';
import { type EnterText, type ExitText, readEnter, readExit } from '../../integrity/index.ts';
import type { Hasher } from '../hashing.ts';
import type { OpenCall, ProvenCalls } from '../page-proof.ts';
import type { PackedPage } from './packed-entries.ts';
import { countOf, packedPairsSql, readPackedPairs, unescapeText } from './packed-rows.ts';

const EXITS = packedPairsSql('sequence_no', 'exit_idx', 'call_exits WHERE sequence_no >= $1 AND sequence_no < $2');

/** Returns undefined unless all calls of the page are proven, and all exits of earlier calls in it. */
export async function proveCalls(
  reader: Reader,
  open: ReadonlyMap<number, OpenCall>,
  page: PackedPage,
  hasher: Hasher,
): Promise<ProvenCalls | undefined> {
  const end = page.begin + page.texts.length;
  const { enters, exits } = readCalls(page);
  const indexes = [...enters.keys()];
  if (!page.hasContentsAt(indexes)) return undefined;
  const rows = await readPackedPairs(reader, EXITS, [page.begin, end]);
  if (rows === undefined || !rows.every(([sequenceNo]) => enters.has(sequenceNo))) return undefined;
  const exitOf = new Map(rows);
  // Fewer keys than rows: one call has two rows.
  if (exitOf.size !== rows.length) return undefined;
  const left: number[] = [];
  const ended = new Set<number>();
  for (const [index, { sequence_no, actor }] of exits) {
    const sequenceNo = countOf(sequence_no);
    const enter = enters.get(sequenceNo);
    if (enter === undefined) {
      const call = open.get(sequenceNo);
      if (call?.exit_idx !== index || call.actor !== unescapeText(actor)) return undefined;
      left.push(sequenceNo);
    } else {
      if (exitOf.get(sequenceNo) !== index || enter.actor !== actor || index <= sequenceNo) return undefined;
      ended.add(sequenceNo);
    }
  }
  const entered = new Map<number, OpenCall>();
  const lastOf = new Map<string, number>();
  for (const [sequenceNo, { actor }] of enters) {
    lastOf.set(actor, sequenceNo);
    if (ended.has(sequenceNo)) continue;
    const exit_idx = exitOf.get(sequenceNo) ?? -1;
    if (exit_idx < end) return undefined;
    entered.set(sequenceNo, { actor: unescapeText(actor), exit_idx });
  }
  const lastCalls = new Map([...lastOf].map(([actor, sequenceNo]) => [unescapeText(actor), sequenceNo]));
  let expected = '';
  for (const { digest } of enters.values()) expected += digest;
  if (hasher.compare({ label: 'arguments', bytes: page.contents, expected }) === 'different') return undefined;
  return { indexes: [...indexes, ...exits.keys()], exits: rows.length, entered, lastCalls, left };
}

interface PageCalls {
  readonly enters: ReadonlyMap<number, EnterText>;
  readonly exits: ReadonlyMap<number, ExitText>;
}

/** The valid enter and exit entries of a page, by index and in log order. */
function readCalls({ begin, texts }: PackedPage): PageCalls {
  const enters = new Map<number, EnterText>();
  const exits = new Map<number, ExitText>();
  for (let offset = begin === 0 ? 1 : 0; offset < texts.length; offset += 1) {
    const text = texts[offset] as string;
    const enter = readEnter(text);
    if (enter !== undefined) {
      enters.set(begin + offset, enter);
      continue;
    }
    const exit = readExit(text);
    if (exit !== undefined) exits.set(begin + offset, exit);
  }
  return { enters, exits };
}
