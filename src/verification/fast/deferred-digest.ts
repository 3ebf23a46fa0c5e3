import { argumentsDefect, extrasDefect, storedDigest } from '../../integrity/index.ts';
import { LEVELS_PER_BLOCK } from '../../ledger/stored-tree.ts';
import { textOf } from './latin1-text.ts';
import { type EntryBytes, LogTree } from './log-tree.ts';

/** Bytes of the store, and what it says that they hash to: digests in their order, with nothing between them. A content must also be of its grammar. */
export type Claim = ContentClaim | BlockClaim;

/** Who can tell whether bytes hash to what is claimed. */
export interface ClaimCheck {
  /** The bytes are given away. */
  holds(claim: Claim): boolean;
}

/** Contents of rows, of which the log has the digests. */
interface ContentClaim {
  readonly label: keyof typeof CONTENT_DEFECTS;
  /** Salt and content of one row after the other, all with a separator between them. */
  readonly bytes: Uint8Array;
  readonly claimed: string;
}

/** What is wrong with a content by itself. */
const CONTENT_DEFECTS = { arguments: argumentsDefect, extras: extrasDefect };

/** Contents are JSON, which has no such character in it unless somebody has forged it. */
export const CONTENT_SEPARATOR = '\u001e';

/** Entries from the beginning of a block on, and the nodes that are stored above those blocks that are full. */
interface BlockClaim extends EntryBytes {
  readonly claimed: string;
}

/** Tells at once. */
export const checkHere: ClaimCheck = { holds };

export function holds(claim: Claim): boolean {
  return 'label' in claim ? haveDigests(claim) : haveNodes(claim);
}

const DIGEST_DIGITS = 64;

function haveDigests({ label, bytes, claimed }: ContentClaim): boolean {
  const rows = claimed.length / DIGEST_DIGITS;
  if (rows === 0) return bytes.length === 0;
  const texts = textOf(bytes)?.split(CONTENT_SEPARATOR);
  if (texts?.length !== rows * 2) return false;
  for (let row = 0; row < rows; row += 1) {
    const content = texts[row * 2 + 1] as string;
    const digest = storedDigest(label, texts[row * 2], content);
    if (digest === undefined || !claimed.startsWith(digest, row * DIGEST_DIGITS)) return false;
    if (CONTENT_DEFECTS[label](content) !== undefined) return false;
  }
  return true;
}

function haveNodes(blocks: BlockClaim): boolean {
  const nodes = new LogTree().add(blocks).filter(({ level }) => level === LEVELS_PER_BLOCK);
  return nodes.map(({ hash }) => hash).join('') === blocks.claimed;
}
