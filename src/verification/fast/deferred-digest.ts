import { argumentsDefect, extrasDefect, storedDigest } from '../../integrity/index.ts';
import { LEVELS_PER_BLOCK } from '../../ledger/stored-tree.ts';
import { decodeUtf8 } from '../latin1-text.ts';
import { type EntryBytes, LogTree } from '../log-tree.ts';

/** Stored bytes and the digests they must have: hexadecimal, in order, without separators. */
export type DeferredDigests = ContentDigests | BlockDigests;

/** Private content whose digests are in the log. It must also conform to its grammar. */
interface ContentDigests {
  readonly label: keyof typeof CONTENT_DEFECTS;
  /** Salt and content of each row, all joined by `CONTENT_SEPARATOR`. */
  readonly bytes: Uint8Array;
  readonly expected: string;
}

const CONTENT_DEFECTS = { arguments: argumentsDefect, extras: extrasDefect };

/** JSON escapes this character, so canonical content never contains it. */
export const CONTENT_SEPARATOR = '\u001e';

/** Entries from the start of a block on, and the stored nodes above the full blocks. */
interface BlockDigests extends EntryBytes {
  readonly expected: string;
}

export function match(deferred: DeferredDigests): boolean {
  return 'label' in deferred ? contentsMatch(deferred) : nodesMatch(deferred);
}

const DIGEST_DIGITS = 64;

function contentsMatch({ label, bytes, expected }: ContentDigests): boolean {
  const rows = expected.length / DIGEST_DIGITS;
  if (rows === 0) return bytes.length === 0;
  const texts = decodeUtf8(bytes)?.split(CONTENT_SEPARATOR);
  if (texts?.length !== rows * 2) return false;
  for (let row = 0; row < rows; row += 1) {
    const content = texts[row * 2 + 1] as string;
    const digest = storedDigest(label, texts[row * 2], content);
    if (digest === undefined || !expected.startsWith(digest, row * DIGEST_DIGITS)) return false;
    if (CONTENT_DEFECTS[label](content) !== undefined) return false;
  }
  return true;
}

function nodesMatch(blocks: BlockDigests): boolean {
  const nodes = new LogTree().add(blocks).filter(({ level }) => level === LEVELS_PER_BLOCK);
  return nodes.map(({ hash }) => hash).join('') === blocks.expected;
}
