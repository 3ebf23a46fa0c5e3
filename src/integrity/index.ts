export { canonicalize, type Json, NotCanonical } from './canonical-json.ts';
export {
  type DigestLabel,
  ENTRY_KINDS,
  type Entry,
  type EntryKind,
  encodeEntry,
  parseEntry,
  type Salt,
  saltedDigest,
  storedDigest,
} from './entry.ts';
export {
  chainedText,
  type ExitFields,
  findAnswer,
  findArguments,
  findExtras,
} from './entry-text.ts';
export { type ChainedThought, thoughtHash } from './hash-chain.ts';
export { toHex } from './hex.ts';
export {
  type ConsistencyClaim,
  consistencyRanges,
  EMPTY_ROOT,
  findLeafHash,
  foldRange,
  type InclusionClaim,
  inclusionRanges,
  isConsistent,
  isDigest,
  isIncluded,
  type LeafRange,
  leafHash,
  leafHashInPlace,
  nodeHash,
  perfectSubtrees,
  TreeBuilder,
} from './merkle.ts';
export { parseJson } from './parse-json.ts';
export { type Digest, type RawDigest, rawSha256, sha256 } from './sha256.ts';
