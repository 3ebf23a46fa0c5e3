import { isAscii, isUtf8 } from 'node:buffer';
import {
  areSameExtras,
  areShortArguments,
  argumentsDefect,
  type Digest,
  extrasDefect,
  sha256,
  storedDigest,
  storedDigestInPlace,
} from '../../integrity/index.ts';
import { LEVELS_PER_BLOCK } from '../../ledger/stored-tree.ts';
import { fromLatin1, type Latin1Text, toLatin1 } from '../latin1-text.ts';
import { type EntryBytes, LogTree } from '../log-tree.ts';

/** Stored bytes and the digests they must have, in hexadecimal and in order. */
export type DeferredDigests = ContentDigests | LinkDigests | BlockDigests;

/** Private content whose digests are in the log. It must also conform to its grammar. */
interface ContentDigests {
  readonly label: keyof typeof CONTENT_DEFECTS;
  /** Salt and content of each row, all joined by `CONTENT_SEPARATOR`. A key may stand before the salt. */
  readonly bytes: Uint8Array;
  /** The digest of each row, behind the same key, joined in the same way. */
  readonly expected: string;
}

const CONTENT_DEFECTS = { arguments: argumentsDefect, extras: extrasDefect };
const IS_VALID = { arguments: areShortArguments, extras: areSameExtras };

/** JSON escapes this character, so canonical content never contains it. */
export const CONTENT_SEPARATOR = '\u001e';

/** Ends a key, which consists of digits: no salt can be read as a part of it. */
export const KEY_END = ':';

/** The texts that the hashes of thoughts cover. */
interface LinkDigests {
  readonly links: readonly Latin1Text[];
  readonly areAscii: boolean;
  readonly expected: readonly Digest[];
}

/** Entries from the start of a block on, and the stored nodes above the full blocks. */
interface BlockDigests extends EntryBytes {
  /** Without separators. */
  readonly expected: string;
}

export function match(deferred: DeferredDigests): boolean {
  if ('links' in deferred) return linksMatch(deferred);
  return 'label' in deferred ? contentsMatch(deferred) : nodesMatch(deferred);
}

function contentsMatch({ label, bytes, expected }: ContentDigests): boolean {
  if (expected === '') return bytes.length === 0;
  if (!isUtf8(bytes)) return false;
  const rows = new ContentRows(label, bytes);
  let begin = 0;
  for (; begin <= expected.length; ) {
    const end = endOf(expected, begin);
    if (!rows.nextMatches(expected, begin, end)) return false;
    begin = end + 1;
  }
  return rows.areAllRead;
}

const SALT_DIGITS = 32;
const DIGEST_DIGITS = 64;

/** Reads the rows in order, as parts of one text: a text for each of their values takes longer than the hash. */
class ContentRows {
  readonly #label: ContentDigests['label'];
  readonly #bytes: Uint8Array;
  readonly #text: Latin1Text;
  readonly #isAscii: boolean;
  #at = 0;

  constructor(label: ContentDigests['label'], bytes: Uint8Array) {
    this.#label = label;
    this.#bytes = bytes;
    this.#text = toLatin1(bytes);
    this.#isAscii = isAscii(bytes);
  }

  get areAllRead(): boolean {
    return this.#at > this.#text.length;
  }

  /** Compares the next row with a key and a digest, which are a part of `expected`. */
  nextMatches(expected: string, keyBegin: number, digestEnd: number): boolean {
    const [text, label] = [this.#text, this.#label];
    const digestBegin = digestEnd - DIGEST_DIGITS;
    const saltAt = this.#at + digestBegin - keyBegin;
    const begin = saltAt + SALT_DIGITS + CONTENT_SEPARATOR.length;
    if (digestBegin < keyBegin || text[begin - 1] !== CONTENT_SEPARATOR) return false;
    for (let offset = 0; offset < digestBegin - keyBegin; offset += 1)
      if (text.charCodeAt(this.#at + offset) !== expected.charCodeAt(keyBegin + offset)) return false;
    const end = endOf(text, begin);
    this.#at = end + 1;
    const digest =
      storedDigestInPlace(label, this.#bytes, text, { saltAt, begin, end }) ??
      storedDigest(label, text.slice(saltAt, saltAt + SALT_DIGITS), fromLatin1(text.slice(begin, end)));
    if (digest !== expected.slice(digestBegin, digestEnd)) return false;
    return (this.#isAscii && IS_VALID[label](text, begin, end)) || this.#hasNoDefect(begin, end);
  }

  #hasNoDefect(begin: number, end: number): boolean {
    return CONTENT_DEFECTS[this.#label](fromLatin1(this.#text.slice(begin, end))) === undefined;
  }
}

/** Where the value ends that begins at an offset. */
function endOf(text: string, begin: number): number {
  const end = text.indexOf(CONTENT_SEPARATOR, begin);
  return end === -1 ? text.length : end;
}

function linksMatch({ links, areAscii, expected }: LinkDigests): boolean {
  const digestOf = (link: Latin1Text) => sha256(areAscii ? link : Buffer.from(link, 'latin1'));
  return links.length === expected.length && links.every((link, place) => digestOf(link) === expected[place]);
}

function nodesMatch(blocks: BlockDigests): boolean {
  const nodes = new LogTree().add(blocks).filter(({ level }) => level === LEVELS_PER_BLOCK);
  return nodes.map(({ hash }) => hash).join('') === blocks.expected;
}
