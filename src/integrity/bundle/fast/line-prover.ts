import { type RawDigest, rawSha256 } from '../../sha256.ts';
import type { FieldPattern } from './byte-grammar.ts';
import { isDigit, withDigit } from './bytes/digits.ts';
import { isHexOf, rawDigestAt } from './bytes/hex-bytes.ts';
import type { Scratch } from './bytes/scratch.ts';
import type { KindPattern, LinkPattern, RecordPattern, SealPattern } from './kind-pattern.ts';
import { LineReader, SALT_AT } from './line-reader.ts';
import type { NewestTime } from './newest-time.ts';
import type { LineFacts, LinkFacts, RecordFacts, SealFacts } from './proved-entry.ts';
import { isOfTaskEvent } from './task-rules.ts';

/** Proves single lines of a bundle: that they are of the format, and that the entry has the digests of its content. */
export class LineProver {
  readonly #times: NewestTime;
  readonly #reader = new LineReader();
  #label: Uint8Array | undefined;

  constructor(times: NewestTime) {
    this.#times = times;
  }

  /** The place of the line feed of the line that was proved last. */
  get end(): number {
    return this.#reader.end;
  }

  /** The line that begins here, behind which at least `SPARE` bytes can be read. Says nothing about any other line. */
  prove(file: Scratch, begin: number): LineFacts | undefined {
    const reader = this.#reader;
    const kind = reader.read(file, begin);
    if (kind === undefined) return undefined;
    const { isDisclosed, leaf, index } = reader;
    const link = kind.record?.link && this.#linkOf(file, kind, kind.record, kind.record.link);
    if (isDisclosed && !this.#isRecorded(kind, link)) return undefined;
    return {
      index,
      kind,
      leaf: rawSha256(leaf.part(0, reader.leafEnd)),
      isDisclosed,
      isNewest: this.#times.isNext(leaf, kind.at.begin + 1),
      record: kind.record && recordOf(leaf.bytes, kind.record, link),
      seal: kind.seal && sealOf(leaf.bytes, kind.seal),
    };
  }

  /** Whether the entry that was read has the digests of its content. */
  #isRecorded({ content, record, at, actor }: KindPattern, link: LinkFacts | undefined): boolean {
    const { leaf, content: preimage, contentEnd } = this.#reader;
    if (content === undefined) return false;
    const labelAt = SALT_AT - content.label.length;
    if (this.#label !== content.label) preimage.bytes.set(content.label, labelAt);
    this.#label = content.label;
    if (!isHexOf(leaf, content.digest.begin + 1, rawSha256(preimage.part(labelAt, contentEnd)))) return false;
    if (record === undefined) return true;
    const { task_id, event } = record;
    if (record.link !== undefined) return link !== undefined && isHexOf(leaf, record.link.hash.begin + 1, link.hash);
    return event !== undefined && isOfTaskEvent(preimage.bytes, event.task, { bytes: leaf.bytes, task_id, at, actor });
  }

  /** For a disclosed thought with the hash that it has, which is then compared with that of the entry. */
  #linkOf(
    file: Scratch,
    { at, actor }: KindPattern,
    { task_id }: RecordPattern,
    { chain_position, hash }: LinkPattern,
  ): LinkFacts {
    const { leaf, thoughts, isDisclosed } = this.#reader;
    const position = numberIn(leaf.bytes, chain_position);
    if (!isDisclosed)
      return { position, hash: rawDigestAt(leaf.bytes, hash.begin + 1) as RawDigest, previous: undefined };
    const found = thoughts.hash(file.bytes, { bytes: leaf.bytes, task_id, at, actor });
    const { previousAt } = thoughts;
    return { position, hash: found, previous: previousAt === null ? null : { source: file, at: previousAt } };
  }
}

function recordOf(entry: Uint8Array, pattern: RecordPattern, link: LinkFacts | undefined): RecordFacts {
  const task = numberIn(entry, pattern.task_id);
  if (pattern.link !== undefined) return { task, sessions: [numberIn(entry, pattern.link.session_id)], link };
  return { task, sessions: pattern.event === undefined ? NONE : listSessions(entry, pattern.event.sessions), link };
}

/** The number that a field is, or that its id has. */
function numberIn(entry: Uint8Array, { begin, end }: FieldPattern): number {
  let at = begin;
  while (at < end && !isDigit(entry[at] as number)) at += 1;
  return digitsAt(entry, at);
}

function digitsAt(entry: Uint8Array, begin: number): number {
  let value = 0;
  for (let at = begin; isDigit(entry[at] as number); at += 1) value = withDigit(value, entry[at] as number);
  return value;
}

const NONE: readonly number[] = [];
const LETTER_A = 0x41;

/** The sessions of a list that was read: the ids are the only values in it that have a letter in upper case. */
function listSessions(entry: Uint8Array, { begin, end }: FieldPattern): readonly number[] {
  if (end - begin === '[]'.length) return NONE;
  const sessions: number[] = [];
  for (let at = begin; at < end; at += 1) if (entry[at] === LETTER_A) sessions.push(digitsAt(entry, at + 'A-'.length));
  return sessions;
}

function sealOf(entry: Uint8Array, { session_id, task_id, leaf_count, root }: SealPattern): SealFacts {
  return {
    session: numberIn(entry, session_id),
    task: task_id.begin < 0 ? undefined : numberIn(entry, task_id),
    records: numberIn(entry, leaf_count),
    root: rawDigestAt(entry, root.begin + 1) as RawDigest,
  };
}
