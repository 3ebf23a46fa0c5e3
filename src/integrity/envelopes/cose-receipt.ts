import { BadFormat } from '../bad-format.ts';
import { parseBundledEntry } from '../bundle/format.ts';
import { type InclusionProof, judgeProof } from '../bundle/inclusion-proof.ts';
import type { BundleReport, TrustedKeys } from '../bundle/verify.ts';
import { canonicalize } from '../canonical-json.ts';
import { bytesOfHex, hexOfBytes } from '../hex.ts';
import { type Checkpoint, parseCheckpoint } from '../notes/checkpoint.ts';
import { keyId, type VerifierKey } from '../notes/signed-note.ts';
import { MAX_PATH } from '../notes/tlog-proof.ts';
import type { Digest } from '../sha256.ts';
import { type Cbor, type CborMap, decodeCbor, encodeCbor, isList, joinBytes } from './cbor.ts';
import { withEnvelopeFinding } from './envelope-finding.ts';

/**
 * A COSE receipt (RFC 9942): COSE_Sign1 over the Merkle root, which is detached, with an inclusion proof of RFC 9162.
 * The signature covers the root and not the size, so the receipt includes the checkpoint, which states both.
 */

/** CBOR tag of COSE_Sign1, RFC 9052 section 2. */
const TAG_18 = 0xd2;

/** RFC 9052 section 3.1, RFC 9597 (CWT claims), RFC 9942 section 2. */
const ALG = 1;
const KID = 4;
const CWT_CLAIMS = 15;
const VDS = 395;
const VDP = 396;
/** Below -65536 labels are for private use. */
const CHECKPOINT = -65537;
const ENTRY = -65538;

/** RFC 9053 section 2.2; RFC 9864 prefers -19, which few libraries know yet. */
const EDDSA = -8;
/** RFC 8392 section 4: the issuer of a CWT. */
const ISSUER = 1;
/** RFC 9942 section 5.1. */
const RFC9162_SHA256 = 1;
/** RFC 9942 section 5.2. */
const INCLUSION_PROOFS = -1;

const HASH_BYTES = 32;
const NOT_A_RECEIPT = 'the file is not a COSE receipt as colibri prove writes it';

export function isCose(bytes: Uint8Array): boolean {
  return bytes[0] === TAG_18;
}

/** What a key signs: the Sig_structure of RFC 9052 section 4.4, with the root as its payload. */
export function receiptMessage({ origin, root }: Pick<Checkpoint, 'origin' | 'root'>, id: string): Uint8Array {
  return encodeCbor(['Signature1', protectedHeader(origin, id), new Uint8Array(0), bytesOfHex(root)]);
}

export function formatReceipt(
  { entry, path, checkpoint }: InclusionProof,
  key: VerifierKey,
  sign: (message: Uint8Array) => Uint8Array,
): Uint8Array {
  const { origin, size, root } = parseCheckpoint(checkpoint);
  const id = keyId(key);
  const proof = encodeCbor([size, entry.index, path.map(bytesOfHex)]);
  const unprotectedHeader = new Map<number, Cbor>([
    [VDP, new Map([[INCLUSION_PROOFS, [proof]]])],
    [CHECKPOINT, checkpoint],
    [ENTRY, canonicalize(entry)],
  ]);
  const signature = sign(receiptMessage({ origin, root }, id));
  const receipt = encodeCbor([protectedHeader(origin, id), unprotectedHeader, null, signature]);
  return joinBytes([Uint8Array.of(TAG_18), receipt]);
}

/** Judges a receipt that `formatReceipt` wrote. Throws `BadFormat` as `verifyBundle` does. */
export function verifyReceipt(bytes: Uint8Array, keys: TrustedKeys): BundleReport {
  const { proof, id, signature, size, issuer } = parseReceipt(bytes);
  const report = judgeProof(proof, keys);
  const { checkpoint } = report;
  if (checkpoint.size !== size) throw new BadFormat('the proof of the receipt is of another size than its checkpoint');
  if (checkpoint.origin !== issuer) throw new BadFormat('the receipt is of another log than its checkpoint');
  return withEnvelopeFinding(report, { name: 'COSE receipt', id, signature, message: receiptMessage(checkpoint, id) });
}

function protectedHeader(origin: string, id: string): Uint8Array {
  const claims = new Map<number, Cbor>([[ISSUER, origin]]);
  const header: readonly (readonly [number, Cbor])[] = [
    [ALG, EDDSA],
    [KID, bytesOfHex(id)],
    [CWT_CLAIMS, claims],
    [VDS, RFC9162_SHA256],
  ];
  return encodeCbor(new Map(header));
}

interface ParsedReceipt {
  readonly proof: InclusionProof;
  readonly size: number;
  readonly issuer: string;
  readonly id: string;
  readonly signature: Uint8Array;
}

function parseReceipt(bytes: Uint8Array): ParsedReceipt {
  if (!isCose(bytes)) throw new BadFormat(NOT_A_RECEIPT);
  const [header, unprotectedHeader, payload, signature] = listOf(decodeCbor(bytes.subarray(1)), 4);
  if (payload !== null) throw new BadFormat('the payload of the receipt is not detached');
  const { issuer, id } = parseProtected(decodeCbor(bytesOf(header)));
  const [proofs, checkpoint, entry] = valuesOf(unprotectedHeader, [VDP, CHECKPOINT, ENTRY]);
  const { size, index, path } = parseProofs(proofs);
  const bundled = parseBundledEntry(textOf(entry));
  if (bundled.index !== index) throw new BadFormat('the receipt is of another index than its entry');
  const proof = { entry: bundled, path, checkpoint: textOf(checkpoint) };
  return { proof, size, issuer, id, signature: bytesOf(signature) };
}

function parseProtected(header: Cbor): { issuer: string; id: string } {
  const [alg, kid, claims, vds] = valuesOf(header, [ALG, KID, CWT_CLAIMS, VDS]);
  if (alg !== EDDSA) throw new BadFormat('the receipt is signed with an unknown algorithm; known is EdDSA');
  if (vds !== RFC9162_SHA256)
    throw new BadFormat('the receipt is of an unknown data structure; known is RFC9162_SHA256');
  const [issuer] = valuesOf(claims, [ISSUER]);
  return { issuer: textOf(issuer), id: hexOfBytes(bytesOf(kid)) };
}

function parseProofs(proofs: Cbor | undefined): { size: number; index: number; path: Digest[] } {
  const [list] = valuesOf(proofs, [INCLUSION_PROOFS]);
  const [encoded] = listOf(list, 1);
  const [size, index, hashes] = listOf(decodeCbor(bytesOf(encoded)), 3);
  // RFC 9942 has no receipt for the only entry of a log: its path would be empty.
  if (hashes === undefined || !isList(hashes) || hashes.length === 0 || hashes.length > MAX_PATH)
    throw new BadFormat(`the proof of the receipt does not have 1 to ${MAX_PATH} hashes`);
  return { size: countOf(size), index: countOf(index), path: hashes.map(digestOf) };
}

/** The values of a map that has these keys and no others. */
function valuesOf(value: Cbor | undefined, keys: readonly number[]): Cbor[] {
  if (!(value instanceof Map)) throw new BadFormat(NOT_A_RECEIPT);
  const map: CborMap = value;
  const values = keys.map((key) => map.get(key)).filter((item) => item !== undefined);
  if (map.size !== keys.length || values.length !== keys.length)
    throw new BadFormat(`${NOT_A_RECEIPT}: a header does not have exactly the keys ${keys.join(', ')}`);
  return values;
}

function listOf(value: Cbor | undefined, length: number): readonly Cbor[] {
  if (value === undefined || !isList(value) || value.length !== length) throw new BadFormat(NOT_A_RECEIPT);
  return value;
}

function bytesOf(value: Cbor | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new BadFormat(NOT_A_RECEIPT);
}

function textOf(value: Cbor | undefined): string {
  if (typeof value === 'string') return value;
  throw new BadFormat(NOT_A_RECEIPT);
}

function countOf(value: Cbor | undefined): number {
  if (typeof value === 'number' && value >= 0) return value;
  throw new BadFormat(NOT_A_RECEIPT);
}

function digestOf(value: Cbor): Digest {
  const bytes = bytesOf(value);
  if (bytes.length !== HASH_BYTES) throw new BadFormat('a hash of the receipt does not have 32 bytes');
  return hexOfBytes(bytes);
}
