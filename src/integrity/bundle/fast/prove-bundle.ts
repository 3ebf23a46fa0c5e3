import { BadFormat } from '../../bad-format.ts';
import { toHex } from '../../hex.ts';
import { type VerifiedCheckpoint, verifyCheckpoint } from '../../notes/checkpoint.ts';
import { checkRedactions, contentDefect, findRedactions } from '../../redaction/bundle.ts';
import type { Digest } from '../../sha256.ts';
import { hasContent } from '../disclosed.ts';
import { type BundleHead, HEAD, parseHash, parseLine } from '../format.ts';
import { followRotations } from '../keys.ts';
import { subsetRoot } from '../subset-proof.ts';
import {
  type BundleReport,
  chainFindings,
  contentFinding,
  type Finding,
  listFindings,
  sessionFinding,
  type TrustedKeys,
} from '../verify.ts';
import { checkWitnesses } from '../witnesses.ts';
import { startsAt, utf8 } from './bytes/utf8-bytes.ts';
import { Lines } from './lines.ts';
import { type EntryList, readEntries } from './read-entries.ts';

const START = utf8('{"checkpoint":');

/**
 * The report of `verifyBundle` if no claim fails, with entries that are parsed on first use. Returns undefined for any
 * other file, and for some that hold: then the reference judges. Reports nothing by itself.
 */
export function proveBundle(bytes: Uint8Array, keys: TrustedKeys): BundleReport | undefined {
  // Not a Buffer of Node: code that meets two kinds of arrays is slower.
  const file = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!startsAt(file, 0, START)) return undefined;
  try {
    return prove(file, keys);
  } catch (error) {
    if (error instanceof BadFormat) return undefined;
    throw error;
  }
}

function prove(file: Uint8Array, keys: TrustedKeys): BundleReport | undefined {
  const lines = new Lines(file);
  const head = parseLine(lines.readText(), 'line 1', HEAD) as BundleHead;
  const list = readEntries(lines, head.entry_count, head.hash_count === 0);
  const hashes = Array.from({ length: head.hash_count }, () => parseHash(lines.readText(), 'a line'));
  if (list === undefined || lines.hasMore()) return undefined;
  const { entries, special } = list;
  const checkpoint = verifyCheckpoint(head.checkpoint, { ...keys, log: followRotations(special, keys.log) });
  if (rootOf(list, hashes, checkpoint.size) !== checkpoint.root) return undefined;
  const claims = judge(head, list, checkpoint);
  if (claims === undefined || claims.some(({ holds }) => holds === 'no')) return undefined;
  return {
    claims,
    checkpoint,
    hashes,
    // Most readers want only the claims.
    get entries() {
      return entries.all();
    },
  };
}

function rootOf({ entries, tree, leaves }: EntryList, hashes: readonly Digest[], size: number): Digest | undefined {
  const { indexes } = entries;
  if (hashes.length > 0) return subsetRoot({ indexes: [...indexes], leaves: leaves.map(toHex), size }, hashes);
  return tree.size === size && indexes.every((index, place) => index === place) ? tree.root() : undefined;
}

function judge(head: BundleHead, list: EntryList, checkpoint: VerifiedCheckpoint): Finding[] | undefined {
  const { entries, special, unproved, records, newest } = list;
  const redactions = findRedactions(special);
  const redacted = redactions.size === 0 ? [] : entries.all().filter(({ index }) => redactions.has(index));
  // Content that was not proved may be what a redaction has left of it, and none may be proved that was redacted.
  for (const entry of [...unproved, ...redacted]) if (contentDefect(entry, redactions) !== undefined) return undefined;
  const able = entries.able - redacted.filter(({ kind }) => hasContent(kind)).length;
  const shown = entries.disclosed - redacted.filter(({ disclosed }) => disclosed !== undefined).length;
  const isLate = checkWitnesses([newest], checkpoint).some(({ about }) => about === 'time');
  const ofRedactions =
    redacted.length === 0 ? [] : entries.all().filter((e) => e.kind === 'redaction' || redactions.has(e.index));
  return listFindings(head, checkpoint, {
    indexes: entries.indexes,
    special,
    timed: isLate ? entries.all() : [],
    content: contentFinding(head, shown, able - shown),
    redactions: checkRedactions(ofRedactions, redactions),
    sessions: records.listSealed().map(sessionFinding),
    chains: chainFindings(records.links),
  });
}
