import { deepEqual, equal } from 'node:assert/strict';
import { CONTENT, disclosedDefect } from '../../src/integrity/bundle/disclosed.ts';
import { Scratch, SPARE } from '../../src/integrity/bundle/fast/bytes/scratch.ts';
import { decode } from '../../src/integrity/bundle/fast/bytes/utf8-bytes.ts';
import { LineProver } from '../../src/integrity/bundle/fast/line-prover.ts';
import { NewestTime } from '../../src/integrity/bundle/fast/newest-time.ts';
import type { HexDigits, LineFacts } from '../../src/integrity/bundle/fast/proved-entry.ts';
import { type BundledEntry, parseBundledEntry } from '../../src/integrity/bundle/format.ts';
import { decodeUtf8 } from '../../src/integrity/bundle/utf8.ts';
import { type OpenedEntry, open } from '../../src/integrity/bundle/verify.ts';
import { toHex } from '../../src/integrity/hex.ts';
import { BadFormat, canonicalize, encodeEntry, leafHash, saltedDigest } from '../../src/integrity/index.ts';
import { unlessThrows } from './target.ts';

const SALT = '000102030405060708090a0b0c0d0e0f';

/** One for all lines, as in a bundle: what it remembers of one must not change what it says of another. */
const prover = new LineProver(new NewestTime());

export interface Compared {
  readonly isProved: boolean;
  readonly holds: boolean;
}

/** Asks both readers about one line of a bundle. Throws if the fast one proves what the reference refuses. */
export function compareLine(text: string | Uint8Array): Compared {
  const line = typeof text === 'string' ? Buffer.from(text) : text;
  // No line contains a line feed.
  if (line.includes(0x0a)) return { isProved: false, holds: false };
  const facts = prove(line);
  const entry = openLine(line);
  if (facts === undefined) return { isProved: false, holds: entry !== undefined };
  if (entry === undefined) throw new Error(`proved what the reference refuses: ${decodeUtf8(line, 'the line')}`);
  const { index, fields, disclosed } = entry;
  const { kind, leaf, isDisclosed } = facts;
  deepEqual(
    { index: facts.index, kind: kind.kind, isDisclosed, leaf: toHex(leaf) },
    { index, kind: fields.kind, isDisclosed: disclosed !== undefined, leaf: leafHash(entry.entry) },
  );
  compareRecord(facts, entry);
  compareSeal(facts, entry);
  return { isProved: true, holds: true };
}

/** A line with the digest of another content, as the owner of the key can write it. */
export function lineWithContent({ index, entry, disclosed }: BundledEntry, text: string): string {
  const fields = open({ index, entry }).fields;
  const [field = '', label = 'task'] = CONTENT[fields.kind] ?? [];
  const changed = encodeEntry({ ...fields, [field]: saltedDigest(label, SALT, text) });
  return canonicalize({ index, entry: changed, disclosed: { ...disclosed, salt: SALT, text } });
}

function prove(line: Uint8Array): LineFacts | undefined {
  const bytes = new Uint8Array(line.length + 1 + SPARE).fill(0x22);
  bytes.set(line);
  bytes[line.length] = 0x0a;
  const facts = prover.prove(new Scratch(bytes), 0);
  if (facts !== undefined) equal(prover.end, line.length);
  return facts;
}

/** By the reference; undefined if it refuses the line or its content. */
function openLine(line: Uint8Array): OpenedEntry | undefined {
  const entry = unlessThrows(BadFormat, () => open(parseBundledEntry(decodeUtf8(line, 'the line'))));
  if (entry?.disclosed === undefined) return entry;
  return disclosedDefect(entry.fields, entry.disclosed) === undefined ? entry : undefined;
}

function compareRecord({ record }: LineFacts, { fields, disclosed }: OpenedEntry): void {
  equal(record !== undefined, fields.kind === 'thought' || fields.kind.startsWith('task.'));
  if (record === undefined) return;
  const { task, sessions, link } = record;
  const named = (fields['sessions'] ?? [fields]) as { readonly session_id: string }[];
  deepEqual(
    { task, sessions },
    { task: numberIn(fields['task_id']), sessions: named.map(({ session_id }) => numberIn(session_id)) },
  );
  deepEqual(
    link && { position: link.position, hash: toHex(link.hash), previous: link.previous && digitsAt(link.previous) },
    fields.kind === 'thought'
      ? { position: fields['chain_position'], hash: fields['hash'], previous: disclosed?.thought?.previous_hash }
      : undefined,
  );
}

function compareSeal({ seal }: LineFacts, { fields }: OpenedEntry): void {
  const { kind, session_id, task_id, leaf_count: records, root } = fields;
  const task = task_id === undefined ? undefined : numberIn(task_id);
  deepEqual(
    seal && { ...seal, root: toHex(seal.root) },
    kind === 'session.finalized' ? { session: numberIn(session_id), task, records, root } : undefined,
  );
}

function numberIn(id: unknown): number {
  return Number((id as string).slice('T-'.length));
}

function digitsAt({ source, at }: HexDigits): string {
  return decode(source.bytes, at, at + 64);
}
