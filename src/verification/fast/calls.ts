import type { Reader } from '../../db/database.ts';
import { type Digest, isOutcome, isTime, isUuid, readEnter, readExit } from '../../integrity/index.ts';
import type { Hasher } from '../hashing.ts';
import type { OpenCall, ProvenCalls } from '../page-proof.ts';
import type { StoredPage } from '../stored-page.ts';
import {
  countOf,
  isCount,
  packedPairsSql,
  packedRowsSql,
  readPackedPairs,
  readPackedRows,
  unescapeText,
} from './packed-rows.ts';

const CONTENTS = packedRowsSql({
  numbers: ['idx'],
  strings: [],
  content: 'content',
  from: 'ledger_entries WHERE idx >= $1 AND idx < $2 AND (salt IS NOT NULL OR content IS NOT NULL)',
});

const EXITS = packedPairsSql('sequence_no', 'exit_idx', 'call_exits WHERE sequence_no >= $1 AND sequence_no < $2');

interface Enter {
  readonly actor: string;
  readonly digest: Digest;
}

/** Returns undefined unless each row says exactly what its entries say. */
export async function proveCalls(
  reader: Reader,
  open: ReadonlyMap<number, OpenCall>,
  page: StoredPage,
  hasher: Hasher,
): Promise<ProvenCalls | undefined> {
  const end = page.begin + page.texts.length;
  const contents = await readPackedRows(reader, CONTENTS, 1, [page.begin, end]);
  const exits = await readPackedPairs(reader, EXITS, [page.begin, end]);
  if (contents === undefined || exits === undefined) return undefined;
  const { enters, leaves } = readCalls(page);
  const expected = expectedDigests(contents.fields.map(countOf), enters);
  if (expected === undefined || !exits.every(([sequenceNo]) => enters.has(sequenceNo))) return undefined;
  const exitOf = new Map(exits);
  // Fewer keys than rows: a call has two rows.
  if (exitOf.size !== exits.length) return undefined;
  const left: number[] = [];
  const ended = new Set<number>();
  for (const [index, { sequenceNo, actor }] of leaves) {
    const enter = enters.get(sequenceNo);
    const exitIndex = enter === undefined ? open.get(sequenceNo)?.exit_idx : exitOf.get(sequenceNo);
    const enteredBy = enter?.actor ?? open.get(sequenceNo)?.actor;
    if (exitIndex !== index || enteredBy !== actor || index <= sequenceNo) return undefined;
    if (enter === undefined) left.push(sequenceNo);
    else ended.add(sequenceNo);
  }
  const entered = new Map<number, OpenCall>();
  const lastCalls = new Map<string, number>();
  for (const [sequenceNo, { actor }] of enters) {
    const exit_idx = exitOf.get(sequenceNo) ?? -1;
    lastCalls.set(actor, sequenceNo);
    if (exit_idx >= end) entered.set(sequenceNo, { actor, exit_idx });
    else if (!ended.has(sequenceNo)) return undefined;
  }
  if (hasher.compare({ label: 'arguments', bytes: contents.contents, expected }) === 'different') return undefined;
  return { indexes: [...enters.keys(), ...leaves.keys()], exits: exits.length, entered, lastCalls, left };
}

interface PageCalls {
  readonly enters: ReadonlyMap<number, Enter>;
  readonly leaves: ReadonlyMap<number, { readonly sequenceNo: number; readonly actor: string }>;
}

/** The enter and exit entries of a page, by index. */
function readCalls({ begin, texts }: StoredPage): PageCalls {
  const enters = new Map<number, Enter>();
  const leaves = new Map<number, { readonly sequenceNo: number; readonly actor: string }>();
  for (const [offset, text] of texts.entries()) {
    if (begin + offset === 0) continue;
    const enter = readEnter(text);
    if (enter !== undefined && isTime(enter.at) && isUuid(enter.process_id))
      enters.set(begin + offset, { actor: unescapeText(enter.actor), digest: enter.arguments });
    if (enter !== undefined) continue;
    const exit = readExit(text);
    if (exit !== undefined && isTime(exit.at) && isOutcome(exit.outcome) && isCount(exit.duration_ms))
      leaves.set(begin + offset, { sequenceNo: countOf(exit.sequence_no), actor: unescapeText(exit.actor) });
  }
  return { enters, leaves };
}

/** The digests of the enter entries in the order of the contents; undefined unless each enter entry has one content. */
function expectedDigests(indexes: readonly number[], enters: ReadonlyMap<number, Enter>): string | undefined {
  if (indexes.length !== enters.size || new Set(indexes).size !== indexes.length) return undefined;
  let expected = '';
  for (const index of indexes) {
    const enter = enters.get(index);
    if (enter === undefined) return undefined;
    expected += enter.digest;
  }
  return expected;
}
