import { BadFormat } from '../bad-format.ts';
import { type Entry, parseEntry } from '../entry.ts';
import { entryDefect } from '../entry-grammar.ts';
import { foldLeaves, leafHash } from '../merkle.ts';
import { type VerifiedCheckpoint, verifyCheckpoint } from '../notes/checkpoint.ts';
import { formatVerifierKey, type VerifierKey } from '../notes/signed-note.ts';
import { checkRedactions, contentDefect, findRedactions } from '../redaction/bundle.ts';
import type { Digest } from '../sha256.ts';
import { hasContent } from './disclosed.ts';
import type { Bundle, BundledEntry, BundleHead } from './format.ts';
import { checkKeys, describeContinuation, followRotations } from './keys.ts';
import { findSealedSessions, type SealedSession } from './sessions.ts';
import { subsetRoot } from './subset-proof.ts';
import { checkTimeStamp, checkWitnesses } from './witnesses.ts';

/** `unknown`: nothing in a bundle can show it. */
export type Holds = 'yes' | 'no' | 'unknown';

/** One statement about a bundle. There is no overall verdict: a reader decides which findings matter. */
export interface Finding {
  readonly about:
    | 'checkpoint'
    | 'envelope'
    | 'inclusion'
    | 'keys'
    | 'continuation'
    | 'content'
    | 'redaction'
    | 'session'
    | 'chain'
    | 'completeness'
    | 'witnesses'
    | 'time'
    | 'stamp'
    | 'truth';
  readonly holds: Holds;
  readonly says: string;
}

export interface TrustedKeys {
  readonly log: readonly VerifierKey[];
  readonly witnesses?: readonly VerifierKey[];
  /** How many of the witnesses must have cosigned; without it, all of them. */
  readonly quorum?: number;
}

export interface OpenedEntry extends BundledEntry {
  readonly fields: Entry;
}

export interface BundleReport {
  /** The name that `verify FILE --json` prints: what the bundle claims, one by one, and whether it holds. */
  readonly claims: readonly Finding[];
  /** The entries that the findings are about; empty if the bundle is not of the signed log. */
  readonly entries: readonly OpenedEntry[];
  readonly checkpoint: VerifiedCheckpoint;
  /** The hashes of the largest subtrees without any of the entries, from left to right. */
  readonly hashes: readonly Digest[];
}

/** Throws `BadFormat` for a bundle that cannot be judged: no trusted signature, or not of its format. */
export function verifyBundle(bundle: Bundle, keys: TrustedKeys): BundleReport {
  const entries = bundle.entries.map(open);
  const checkpoint = verifyCheckpoint(bundle.head.checkpoint, { ...keys, log: followRotations(entries, keys.log) });
  const inclusion = checkInclusion(bundle, entries, checkpoint);
  // Nothing else means anything about entries that are not in the signed log.
  if (inclusion.holds !== 'yes')
    return { claims: [signature(checkpoint), inclusion], entries: [], checkpoint, hashes: [] };
  return judgeEntries(bundle.head, { entries, checkpoint, hashes: bundle.hashes });
}

/** The findings about entries that are proved to be in the signed log. */
export function judgeEntries(head: BundleHead, proved: Omit<BundleReport, 'claims'>): BundleReport {
  const { entries, checkpoint } = proved;
  const redactions = findRedactions(entries);
  const claims = listFindings(head, checkpoint, {
    indexes: entries.map(({ index }) => index),
    special: entries,
    timed: entries,
    content: checkContent(head, entries, redactions),
    redactions: checkRedactions(entries, redactions),
    sessions: findSealedSessions(entries).map(sessionFinding),
    chains: checkChains(entries),
  });
  return { ...proved, claims };
}

/** What was found out about the entries. */
export interface JudgedEntries {
  /** The places of all of them in the log. */
  readonly indexes: ArrayLike<number>;
  /** At least those that are about keys or the identity of the log. */
  readonly special: readonly OpenedEntry[];
  /** At least the first that states a later time than a witness could have seen. */
  readonly timed: readonly OpenedEntry[];
  readonly content: Finding;
  readonly redactions: readonly Finding[];
  readonly sessions: readonly Finding[];
  readonly chains: readonly Finding[];
}

export function listFindings(head: BundleHead, checkpoint: VerifiedCheckpoint, found: JudgedEntries): Finding[] {
  const { indexes, special, timed } = found;
  const says = `${countText(indexes.length)} of the signed log: unchanged, and at the same places`;
  return [
    signature(checkpoint),
    { about: 'inclusion', holds: 'yes', says },
    ...checkKeys(special, checkpoint),
    ...describeContinuation(special),
    found.content,
    ...found.redactions,
    ...found.sessions,
    ...found.chains,
    checkCompleteness(head, indexes, checkpoint),
    ...checkWitnesses(timed, checkpoint),
    ...checkTimeStamp(checkpoint),
    TRUTH,
  ];
}

/** Throws for an entry that is not one of the grammar. */
export function open(bundled: BundledEntry): OpenedEntry {
  const fields = parseEntry(bundled.entry);
  const defect = fields === undefined ? 'is not canonical JSON' : entryDefect(fields);
  if (fields === undefined || defect !== undefined) throw new BadFormat(`entry ${bundled.index} ${defect}`);
  return { ...bundled, fields };
}

export function signature({ origin, size, signers }: VerifiedCheckpoint): Finding {
  const by = signers.map(formatVerifierKey).join(', ');
  return {
    about: 'checkpoint',
    holds: 'yes',
    says: `the log ${origin} had ${size} entries when this key signed: ${by}`,
  };
}

function checkInclusion(
  { hashes }: Bundle,
  entries: readonly OpenedEntry[],
  { size, root }: VerifiedCheckpoint,
): Finding {
  const indexes = entries.map(({ index }) => index);
  const leaves = entries.map(({ entry }) => leafHash(entry));
  const isWhole = entries.length === size && hashes.length === 0 && indexes.every((index, place) => index === place);
  const found = isWhole ? foldLeaves(leaves) : subsetRoot({ indexes, leaves, size }, hashes);
  if (found !== root) return { about: 'inclusion', holds: 'no', says: 'the entries are not those of the signed log' };
  return { about: 'inclusion', holds: 'yes', says: 'the entries are those of the signed log' };
}

function checkContent(
  head: BundleHead,
  entries: readonly OpenedEntry[],
  redactions: ReturnType<typeof findRedactions>,
): Finding {
  for (const entry of entries) {
    const defect = contentDefect(entry, redactions);
    if (defect !== undefined) return { about: 'content', holds: 'no', says: `entry ${entry.index} ${defect}` };
  }
  const able = entries.filter(({ index, fields }) => hasContent(fields.kind) && !redactions.has(index));
  const shown = able.filter(({ disclosed }) => disclosed !== undefined);
  return contentFinding(head, shown.length, able.length - shown.length);
}

/** Of contents that are what was recorded, and of those that are not here. */
export function contentFinding(head: BundleHead, shown: number, hidden: number): Finding {
  return { about: 'content', holds: 'yes', says: contentText(head, shown, hidden) };
}

function contentText({ redacted }: BundleHead, shown: number, hidden: number): string {
  const why = redacted ? 'left out on purpose' : 'not disclosed';
  if (shown > 0)
    return `the content of ${countText(shown)} is what was recorded${hidden === 0 ? '' : `; that of ${hidden} is ${why}`}`;
  // Not "0 entries are what was recorded", which sounds like a proof.
  return hidden === 0 ? 'no entry here has content' : `no content is here: that of ${countText(hidden)} is ${why}`;
}

export function sessionFinding({ sessionId, records, sealed, hasRoot }: SealedSession): Finding {
  const about = 'session';
  if (records === sealed && hasRoot)
    return { about, holds: 'yes', says: `${sessionId} is complete: all ${sealed} records that were sealed are here` };
  if (records < sealed)
    return {
      about,
      holds: 'unknown',
      says: `${sessionId} is not complete: ${records} of ${sealed} sealed records are here`,
    };
  return { about, holds: 'no', says: `${sessionId} has records that do not have its sealed root` };
}

/** Thoughts of one task that are here without a gap link to each other, if they are disclosed. */
function checkChains(entries: readonly OpenedEntry[]): Finding[] {
  const last = new Map<string, { position: number; hash: Digest }>();
  let links = 0;
  for (const { index, fields, disclosed } of entries) {
    if (fields.kind !== 'thought') continue;
    const [taskId, position] = [fields['task_id'] as string, fields['chain_position'] as number];
    const before = last.get(taskId);
    const linked = disclosed?.thought?.previous_hash;
    if (linked !== undefined && before?.position === position - 1) {
      if (linked !== before.hash)
        return [
          { about: 'chain', holds: 'no', says: `the thought of entry ${index} does not link to the one before it` },
        ];
      links += 1;
    }
    last.set(taskId, { position, hash: fields['hash'] as string });
  }
  return chainFindings(links);
}

/** Of thoughts that link to the one before them. */
export function chainFindings(links: number): Finding[] {
  if (links === 0) return [];
  const says = links === 1 ? '1 thought links to the one before it' : `${links} thoughts link to the one before them`;
  return [{ about: 'chain', holds: 'yes', says }];
}

function checkCompleteness(head: BundleHead, indexes: ArrayLike<number>, { size }: VerifiedCheckpoint): Finding {
  const about = 'completeness';
  if (indexes.length === size) return { about, holds: 'yes', says: 'every entry of the signed log is here' };
  const begin = findGaplessEnd(indexes, size);
  if (head.scope.kind === 'since' && begin !== undefined)
    return { about, holds: 'yes', says: `every entry from ${begin} to the end of the signed log is here` };
  const missing = size - indexes.length;
  const says = `the bundle leaves ${missing} of ${size} entries out; whether they are about the same matter cannot be known`;
  return { about, holds: 'unknown', says };
}

/** The first index from which on no entry is left out. */
function findGaplessEnd(indexes: ArrayLike<number>, size: number): number | undefined {
  let begin: number | undefined;
  for (let place = indexes.length - 1, index = size - 1; indexes[place] === index; place -= 1, index -= 1)
    begin = index;
  return begin;
}

function countText(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

const TRUTH: Finding = {
  about: 'truth',
  holds: 'unknown',
  says: 'no proof shows that what agents wrote is true, or that clocks were right',
};
