import { argumentsDefect, extrasDefect, storedDigest } from '../../integrity/index.ts';
import { LEVELS_PER_BLOCK } from '../../ledger/stored-tree.ts';
import { decodeUtf8 } from '../latin1-text.ts';
import { type EntryBytes, LogTree } from '../log-tree.ts';

/** Stored bytes and the digests they must have, in hexadecimal and in order. */
export type DeferredDigests = ContentDigests | BlockDigests;

/** Private content whose digests are in the log. It must also conform to its grammar. */
interface ContentDigests {
  readonly label: keyof typeof CONTENT_DEFECTS;
  /** Salt and content of each row, all joined by `CONTENT_SEPARATOR`. A key may stand before the salt. */
  readonly bytes: Uint8Array;
  /** The digest of each row, behind the same key, joined in the same way. */
  readonly expected: string;
}

const CONTENT_DEFECTS = { arguments: argumentsDefect, extras: extrasDefect };

/** JSON escapes this character, so canonical content never contains it. */
export const CONTENT_SEPARATOR = '\u001e';

/** Ends a key, which consists of digits: no salt can be read as a part of it. */
export const KEY_END = ':';

/** Entries from the start of a block on, and the stored nodes above the full blocks. */
interface BlockDigests extends EntryBytes {
  /** Without separators. */
  readonly expected: string;
}

export function match(deferred: DeferredDigests): boolean {
  return 'label' in deferred ? contentsMatch(deferred) : nodesMatch(deferred);
}

function contentsMatch({ label, bytes, expected }: ContentDigests): boolean {
  if (expected === '') return bytes.length === 0;
  const texts = decodeUtf8(bytes)?.split(CONTENT_SEPARATOR);
  const digests = expected.split(CONTENT_SEPARATOR);
  if (texts?.length !== digests.length * 2) return false;
  for (let row = 0; row < digests.length; row += 1)
    if (!contentMatches(label, texts[row * 2] as string, texts[row * 2 + 1] as string, digests[row] as string))
      return false;
  return true;
}

const DIGEST_DIGITS = 64;

function contentMatches(label: ContentDigests['label'], salt: string, content: string, expected: string): boolean {
  const keyLength = expected.length - DIGEST_DIGITS;
  if (keyLength < 0 || salt.slice(0, keyLength) !== expected.slice(0, keyLength)) return false;
  const digest = storedDigest(label, salt.slice(keyLength), content);
  return digest === expected.slice(keyLength) && CONTENT_DEFECTS[label](content) === undefined;
}

function nodesMatch(blocks: BlockDigests): boolean {
  const nodes = new LogTree().add(blocks).filter(({ level }) => level === LEVELS_PER_BLOCK);
  return nodes.map(({ hash }) => hash).join('') === blocks.expected;
}
