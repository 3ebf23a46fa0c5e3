import type { Entry } from '../../entry.ts';
import { leafHash } from '../../merkle.ts';
import { TreeBuilder } from '../../primitives/tree-builder.ts';
import type { Digest, RawDigest } from '../../sha256.ts';
import { type Disclosed, parseBundledEntry } from '../format.ts';
import { open } from '../verify.ts';
import { rawDigestAt } from './bytes/hex-bytes.ts';
import { Scratch } from './bytes/scratch.ts';
import { utf8 } from './bytes/utf8-bytes.ts';
import { patternOf } from './kind-pattern.ts';
import { LineProver } from './line-prover.ts';
import type { Lines } from './lines.ts';
import { NewestTime } from './newest-time.ts';
import { ProvedEntries } from './proved-entries.ts';
import { idNumber, type LineFacts, type ProvedEntry, type RecordFacts, type SealFacts } from './proved-entry.ts';
import { RecordTracker } from './record-tracker.ts';

/** The entries of a bundle, and what was found out about them on the way. */
export interface EntryList {
  readonly entries: ProvedEntries;
  /** Those that findings are about one by one. */
  readonly special: readonly ProvedEntry[];
  /** Those whose content was not compared with the digests. */
  readonly unproved: readonly ProvedEntry[];
  readonly records: RecordTracker;
  /** The tree of all of them if these are the whole log, otherwise the hash of each. */
  readonly tree: TreeBuilder;
  readonly leaves: readonly RawDigest[];
  /** The first of those with the latest time. */
  readonly newest: ProvedEntry;
}

/** No line of an entry is shorter. */
const MIN_LINE = 64;

/**
 * Reads `count` lines from the second on. A line that is not proved is parsed by the reference, which throws
 * `BadFormat`. Undefined if a chain is broken, or if the file is too short.
 */
export function readEntries(lines: Lines, count: number, isWhole: boolean): EntryList | undefined {
  if (count * MIN_LINE > lines.file.length) return undefined;
  const times = new NewestTime();
  const prover = new LineProver(times);
  const entries = new ProvedEntries(lines.file, lines.begin, count);
  const special: ProvedEntry[] = [];
  const unproved: ProvedEntry[] = [];
  const records = new RecordTracker();
  const leaves: RawDigest[] = [];
  const tree = new TreeBuilder();
  let newest = 0;
  for (let line = 0; line < count; line += 1) {
    const proved = lines.hasMore() ? prover.prove(lines.source, lines.place) : undefined;
    const facts = proved ?? factsOf(lines.readText(), times);
    if (proved !== undefined) lines.skipTo(prover.end);
    const place = entries.add(facts, lines.begin);
    if (isWhole) tree.addRaw(facts.leaf);
    else leaves.push(facts.leaf);
    if (facts.record !== undefined && !records.add(facts.record, facts.leaf)) return undefined;
    if (facts.seal !== undefined) records.seal(facts.seal);
    if (facts.isNewest) newest = place;
    if (proved === undefined) unproved.push(entries.at(place));
    if (facts.kind.isSpecial) special.push(entries.at(place));
  }
  return { entries, special, unproved, records, leaves, tree, newest: entries.at(newest) };
}

/** The same facts by the reference. */
function factsOf(line: string, times: NewestTime): LineFacts {
  const { index, entry, disclosed, fields } = open(parseBundledEntry(line));
  const { kind, at } = fields;
  return {
    index,
    kind: patternOf(kind),
    leaf: rawOf(leafHash(entry)),
    isDisclosed: disclosed !== undefined,
    isNewest: times.isNext(new Scratch(utf8(at)), 0),
    record: recordOf(fields, disclosed),
    seal: sealOf(fields),
  };
}

function recordOf(fields: Entry, disclosed: Disclosed | undefined): RecordFacts | undefined {
  const { kind, task_id, session_id, sessions, chain_position, hash } = fields;
  if (kind !== 'thought' && kind !== 'task.created' && kind !== 'task.updated') return undefined;
  const task = idNumber(task_id as string);
  if (kind !== 'thought')
    return {
      task,
      sessions: (sessions as { session_id: string }[]).map((one) => idNumber(one.session_id)),
      link: undefined,
    };
  const previous = disclosed?.thought?.previous_hash;
  const link = {
    position: chain_position as number,
    hash: rawOf(hash as Digest),
    previous: typeof previous === 'string' ? { source: new Scratch(utf8(previous)), at: 0 } : previous,
  };
  return { task, sessions: [idNumber(session_id as string)], link };
}

function sealOf({ kind, session_id, task_id, leaf_count, root }: Entry): SealFacts | undefined {
  if (kind !== 'session.finalized') return undefined;
  return {
    session: idNumber(session_id as string),
    task: task_id === undefined ? undefined : idNumber(task_id as string),
    records: leaf_count as number,
    root: rawOf(root as Digest),
  };
}

function rawOf(digest: Digest): RawDigest {
  return rawDigestAt(utf8(digest), 0) as RawDigest;
}
