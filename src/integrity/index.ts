export { BadFormat, UnknownSigner } from './bad-format.ts';
export { disclosedDefect } from './bundle/disclosed.ts';
export {
  BUNDLE_FORMAT,
  type Bundle,
  type BundledEntry,
  type BundleHead,
  type BundleScope,
  type Disclosed,
  formatBundle,
  parseBundle,
  parseBundledEntry,
} from './bundle/format.ts';
export type { InclusionProof } from './bundle/inclusion-proof.ts';
export { BUNDLE_PLACE, embeddingTags, findPacked, type PageView } from './bundle/page-file.ts';
export { subsetRanges, subsetRoot } from './bundle/subset-proof.ts';
export { isOfEvent, taskDefect } from './bundle/task-grammar.ts';
export { type BundleReport, type Finding, type TrustedKeys, verifyBundle } from './bundle/verify.ts';
export { FINDING_WORDS, findingLine, verifyBytes, verifyText } from './bundle/verify-text.ts';
export { canonicalize, type Json, NotCanonical } from './canonical-json.ts';
export { isCanonicalText } from './canonical-text.ts';
export {
  areSameExtras,
  areShortArguments,
  argumentsDefect,
  CUT_ARGUMENTS_LENGTH,
  extrasDefect,
  MAX_ARGUMENTS_LENGTH,
  MAX_COMMAND_LENGTH,
  MAX_KEY_LENGTH,
  MAX_METADATA_LENGTH,
  MAX_REASON_LENGTH,
  MAX_REQUIRED_COMMANDS,
  PRIORITIES,
  projectOptionsDefect,
  REVIEW_POLICIES,
  redactionDefect,
  sessionDefect,
  THOUGHT_TYPES,
  thoughtDefect,
  WORKFLOW_STATES,
} from './content-grammar.ts';
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
  storedDigestInPlace,
} from './entry.ts';
export { ENTRY_GRAMMAR, entryDefect, SCOPES } from './entry-grammar.ts';
export { chainedText, type EnterText, type ExitText, findExtras, readEnter, readExit } from './entry-text.ts';
export { formatReceipt } from './envelopes/cose-receipt.ts';
export { formatDsse } from './envelopes/dsse.ts';
export { isPerson, isProjectSlug, isSessionId, isTaskId, isUuid, PERSON_PREFIX } from './forms.ts';
export { type ChainedThought, thoughtHash } from './hash-chain.ts';
export { toHex } from './hex.ts';
export {
  type ConsistencyCheck,
  consistencyRanges,
  EMPTY_ROOT,
  findLeafHash,
  foldLeaves,
  foldRange,
  type InclusionCheck,
  inclusionRanges,
  isConsistent,
  isDigest,
  isIncluded,
  type LeafRange,
  leafHash,
  leafHashInPlace,
  nodeHash,
  perfectSubtrees,
  splitPoint,
} from './merkle.ts';
export { decodeBase64, encodeBase64 } from './notes/base64.ts';
export {
  type Checkpoint,
  checkpointText,
  originOf,
  parseCheckpoint,
  parseSize,
  type SignedCheckpoint,
  type VerifiedCheckpoint,
  verifyCheckpoint,
} from './notes/checkpoint.ts';
export { type Extension, formatChain, judgeExtension, parseChain } from './notes/extension-chain.ts';
export { type KeyStatement, keyStatementDefect, keyStatementText } from './notes/key-statement.ts';
export {
  cosignedText,
  distinctKeys,
  formatNote,
  formatSignature,
  formatVerifierKey,
  keyId,
  type NoteSignature,
  parseSignature,
  parseVerifierKey,
  type Verified,
  type VerifierKey,
  verifyNote,
} from './notes/signed-note.ts';
export { findTimeStamp, stampedDigest, timeStampSignature } from './notes/time-stamp.ts';
export { formatTlogProof, parseTlogProof, type TlogProof } from './notes/tlog-proof.ts';
export { formatWitnessRequest, type WitnessRequest } from './notes/witness-request.ts';
export {
  type Attachment,
  attachmentOf,
  claimAfterEvent,
  commitKey,
  coverageDefect,
  decidedKeys,
  listAttachments,
  MAX_MISSING,
  MAX_SHOWN_LENGTH,
  NO_TASK,
  type OpenCalls,
  observedContentDefect,
  openCallsAfter,
  RECORDER_PREFIX,
  reportSession,
  subagentKey,
  subagentKeys,
  TOKEN_COUNTS,
} from './observed-grammar.ts';
export { isOutcome, OUTCOMES, type Outcome, RULE_CODES, STAGE_CODES } from './outcomes.ts';
export { parseJson } from './parse-json.ts';
export { isTime } from './primitives/iso-time.ts';
export { TreeBuilder } from './primitives/tree-builder.ts';
export {
  ERASED_SALT,
  type ErasableKind,
  erasedContent,
  isErasable,
  isRedactable,
  isWithoutText,
  REDACTED_TYPE,
  type Redaction,
  redactionNote,
  withoutText,
} from './redaction/erasure.ts';
export { type Digest, type RawDigest, rawSha256, sha256 } from './sha256.ts';
