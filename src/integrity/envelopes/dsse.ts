import { BadFormat } from '../bad-format.ts';
import { type BundledEntry, ENTRY, parseLine } from '../bundle/format.ts';
import { type InclusionProof, judgeProof } from '../bundle/inclusion-proof.ts';
import { decodeUtf8 } from '../bundle/utf8.ts';
import type { BundleReport, TrustedKeys } from '../bundle/verify.ts';
import { canonicalize } from '../canonical-json.ts';
import { digest, type Fields, type Form, listOf, oneOf, shaped, text } from '../forms.ts';
import { decodeBase64, encodeBase64 } from '../notes/base64.ts';
import { parseCheckpoint } from '../notes/checkpoint.ts';
import { keyId, type VerifierKey } from '../notes/signed-note.ts';
import { MAX_PATH } from '../notes/tlog-proof.ts';
import { type Digest, sha256 } from '../sha256.ts';
import { joinBytes } from './cbor.ts';
import { withEnvelopeFinding } from './envelope-finding.ts';

/**
 * A DSSE envelope (version 1.0.2) around an in-toto Statement v1: its subject is the entry, its predicate the proof
 * that the entry is in the signed log.
 */

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'https://github.com/colibri-mcp/colibri/inclusion-proof/v1';

const encoder = new TextEncoder();

interface Envelope {
  readonly payload: string;
  readonly payloadType: typeof PAYLOAD_TYPE;
  readonly signatures: readonly [{ readonly keyid: string; readonly sig: string }];
}

interface Statement {
  readonly _type: typeof STATEMENT_TYPE;
  readonly subject: readonly [{ readonly name: string; readonly digest: { readonly sha256: Digest } }];
  readonly predicateType: typeof PREDICATE_TYPE;
  readonly predicate: { readonly checkpoint: string; readonly entry: BundledEntry; readonly path: readonly Digest[] };
}

const ENVELOPE: Fields = {
  payload: text,
  payloadType: oneOf([PAYLOAD_TYPE]),
  signatures: exactlyOne(shaped({ keyid: text, sig: text })),
};

const STATEMENT: Fields = {
  _type: oneOf([STATEMENT_TYPE]),
  subject: exactlyOne(shaped({ name: text, digest: shaped({ sha256: digest }) })),
  predicateType: oneOf([PREDICATE_TYPE]),
  predicate: shaped({ checkpoint: text, entry: shaped(ENTRY), path: listOf(digest, MAX_PATH) }),
};

/** Also reports other malformed envelopes: no other proof format is JSON. */
export function isDsse(file: string): boolean {
  return file.startsWith('{');
}

/** What a key signs: the pre-authentication encoding of DSSE. */
export function dsseMessage(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = encoder.encode(payloadType);
  return joinBytes([encoder.encode(`DSSEv1 ${type.length} `), type, encoder.encode(` ${payload.length} `), payload]);
}

export function formatDsse(proof: InclusionProof, key: VerifierKey, sign: (message: Uint8Array) => Uint8Array): string {
  const payload = encoder.encode(canonicalize(statementOf(proof)));
  const envelope: Envelope = {
    payload: encodeBase64(payload),
    payloadType: PAYLOAD_TYPE,
    signatures: [{ keyid: keyId(key), sig: encodeBase64(sign(dsseMessage(PAYLOAD_TYPE, payload))) }],
  };
  return `${canonicalize(envelope)}\n`;
}

/** Judges an envelope that `formatDsse` wrote. Throws `BadFormat` as `verifyBundle` does. */
export function verifyDsse(file: string, keys: TrustedKeys): BundleReport {
  const { payload, signatures } = parseLine(file.replace(/\n$/, ''), 'the file', ENVELOPE) as Envelope;
  if (!file.endsWith('\n')) throw new BadFormat('an envelope ends with a line feed');
  const bytes = decodeBase64(payload, 'the payload');
  const { subject, predicate } = parseLine(decodeUtf8(bytes, 'the payload'), 'the statement', STATEMENT) as Statement;
  const report = judgeProof(predicate, keys);
  if (canonicalize(subject) !== canonicalize(statementOf(predicate).subject))
    throw new BadFormat('the subject of the statement is not the entry of its proof');
  const [{ keyid: id, sig }] = signatures;
  const signature = decodeBase64(sig, 'the signature');
  return withEnvelopeFinding(report, {
    name: 'DSSE envelope',
    id,
    signature,
    message: dsseMessage(PAYLOAD_TYPE, bytes),
  });
}

function statementOf({ entry, path, checkpoint }: InclusionProof): Statement {
  const { origin } = parseCheckpoint(checkpoint);
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: `${origin}#${entry.index}`, digest: { sha256: sha256(entry.entry) } }],
    predicateType: PREDICATE_TYPE,
    predicate: { checkpoint, entry, path },
  };
}

function exactlyOne(form: Form): Form {
  return {
    says: `a list of exactly one, ${form.says}`,
    holds: (value) => Array.isArray(value) && value.length === 1 && form.holds(value[0]),
  };
}
