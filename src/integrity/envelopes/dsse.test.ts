import { createPublicKey, verify } from 'node:crypto';
import { assert, nat, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEntries, LOG_KEY, ORIGIN, proveEntry, TestKey } from '../../../test/vectors/signed-log.ts';
import { BadFormat } from '../bad-format.ts';
import type { InclusionProof } from '../bundle/inclusion-proof.ts';
import type { TrustedKeys } from '../bundle/verify.ts';
import { canonicalize } from '../canonical-json.ts';
import { checkpointText, parseCheckpoint, verifyCheckpoint } from '../notes/checkpoint.ts';
import { keyStatementDefect, keyStatementText } from '../notes/key-statement.ts';
import { formatVerifierKey, keyId } from '../notes/signed-note.ts';
import { sha256 } from '../sha256.ts';
import { formatReceipt, receiptMessage, verifyReceipt } from './cose-receipt.ts';
import { dsseMessage, formatDsse, PREDICATE_TYPE, verifyDsse } from './dsse.ts';

const encoder = new TextEncoder();
const KEYS: TrustedKeys = { log: [LOG_KEY.verifierKey] };
const ENTRIES = createEntries(11);
const PROOF = proveEntry(ENTRIES, 3);
const ENVELOPE = formatDsse(PROOF, LOG_KEY.verifierKey, LOG_KEY.sign);
const other = new TestKey(3);

interface Envelope {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
}

interface Statement {
  _type: string;
  subject: { name: string; digest: { sha256: string } }[];
  predicateType: string;
  predicate: { -readonly [Name in keyof InclusionProof]: InclusionProof[Name] };
}

const parseEnvelope = (text: string) => JSON.parse(text) as Envelope;
const statementIn = (envelope: string) =>
  JSON.parse(Buffer.from(parseEnvelope(envelope).payload, 'base64').toString('utf8')) as Statement;

const holdings = (envelope: string, keys = KEYS) =>
  Object.fromEntries(verifyDsse(envelope, keys).claims.map(({ about, holds }) => [about, holds]));

/** The envelope with a change outside its payload. */
function changed(change: (envelope: Envelope) => void): string {
  const envelope = parseEnvelope(ENVELOPE);
  change(envelope);
  return `${canonicalize(envelope)}\n`;
}

/** A payload that the key of the log has signed, whatever it says. */
function signed(text: string, payloadType = 'application/vnd.in-toto+json'): string {
  const payload = encoder.encode(text);
  const sig = Buffer.from(LOG_KEY.sign(dsseMessage(payloadType, payload))).toString('base64');
  const signatures = [{ keyid: keyId(LOG_KEY.verifierKey), sig }];
  return `${canonicalize({ payload: Buffer.from(payload).toString('base64'), payloadType, signatures })}\n`;
}

function stated(change: (statement: Statement) => void): string {
  const statement = statementIn(ENVELOPE);
  change(statement);
  return signed(canonicalize(statement));
}

describe('the protocol of DSSE', () => {
  /** The test vector of https://github.com/secure-systems-lab/dsse/blob/master/protocol.md, signed with ECDSA. */
  it('has the encoding of the test vector, over which its signature holds', () => {
    const message = dsseMessage('http://example.com/HelloWorld', encoder.encode('hello world'));
    expect(new TextDecoder().decode(message)).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
    const encode = (coordinate: bigint) =>
      Buffer.from(coordinate.toString(16).padStart(64, '0'), 'hex').toString('base64url');
    const x = encode(46950820868899156662930047687818585632848591499744589407958293238635476079160n);
    const y = encode(5640078356564379163099075877009565129882514886557779369047442380624545832820n);
    const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
    const signature = Buffer.from(
      'A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==',
      'base64',
    );
    expect(verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  });

  it('counts bytes and not characters', () => {
    const message = dsseMessage('\u00fc', encoder.encode('\u6c34'));
    expect(new TextDecoder().decode(message)).toBe('DSSEv1 2 \u00fc 3 \u6c34');
  });
});

describe('a DSSE envelope', () => {
  it('has an in-toto statement about the digest of the entry', () => {
    const { _type, subject, predicateType, predicate } = statementIn(ENVELOPE);
    expect([_type, predicateType]).toEqual(['https://in-toto.io/Statement/v1', PREDICATE_TYPE]);
    expect(subject).toEqual([{ name: `${ORIGIN}#3`, digest: { sha256: sha256(PROOF.entry.entry) } }]);
    expect(predicate).toEqual(PROOF);
  });

  it('makes the claims of the proof in it, and one about its own signature', () => {
    expect(holdings(ENVELOPE)).toEqual({
      checkpoint: 'yes',
      envelope: 'yes',
      inclusion: 'yes',
      content: 'yes',
      completeness: 'unknown',
      witnesses: 'unknown',
      truth: 'unknown',
    });
  });

  it.each<[name: string, forged: string]>([
    ['another signature', changed(({ signatures }) => Object.assign(signatures[0] ?? {}, { sig: 'AAAA' }))],
    ['no signature', changed(({ signatures }) => Object.assign(signatures[0] ?? {}, { sig: '' }))],
    ['another key id', changed(({ signatures }) => Object.assign(signatures[0] ?? {}, { keyid: '00000000' }))],
    ['the signature of another key', formatDsse(PROOF, LOG_KEY.verifierKey, other.sign)],
    ['another key', formatDsse(PROOF, other.verifierKey, other.sign)],
    ['the signature of its note', formatDsse(PROOF, LOG_KEY.verifierKey, () => LOG_KEY.signText(PROOF.checkpoint))],
    [
      'another path',
      stated(({ predicate }) => Object.assign(predicate, { path: predicate.path.map(() => sha256('')) })),
    ],
    ['a hash less', stated(({ predicate }) => Object.assign(predicate, { path: predicate.path.slice(1) }))],
    [
      'other content',
      stated(({ predicate }) =>
        Object.assign(predicate.entry, { disclosed: { ...predicate.entry.disclosed, text: '{"text":"forged"}' } }),
      ),
    ],
  ])('does not hold with %s', (_, forged) => {
    expect(Object.values(holdings(forged))).toContain('no');
  });

  const statement = canonicalize(statementIn(ENVELOPE));
  it.each<[name: string, forged: string]>([
    ['no line feed', ENVELOPE.slice(0, -1)],
    ['a second line', `${ENVELOPE}${ENVELOPE}`],
    ['white space', ENVELOPE.replace('"payloadType":', '"payloadType": ')],
    ['a key twice', ENVELOPE.replace('"payloadType":', '"payloadType":"","payloadType":')],
    ['an unknown field', changed((envelope) => Object.assign(envelope, { extra: 1 }))],
    ['no payload type', ENVELOPE.replace(/"payloadType":"[^"]*",/, '')],
    ['another payload type', signed(statement, 'application/json')],
    ['no signatures', changed((envelope) => Object.assign(envelope, { signatures: [] }))],
    ['two signatures', changed(({ signatures }) => signatures.push(...signatures))],
    [
      'a payload without padding',
      changed((envelope) => Object.assign(envelope, { payload: envelope.payload.slice(0, -1) })),
    ],
    [
      'a payload for URLs',
      changed((envelope) => Object.assign(envelope, { payload: `-_${envelope.payload.slice(2)}` })),
    ],
    ['unused bits in a signature', changed(({ signatures }) => Object.assign(signatures[0] ?? {}, { sig: 'AB==' }))],
    ['a payload that is not UTF-8', changed((envelope) => Object.assign(envelope, { payload: '/w==' }))],
    ['a statement that is not canonical', signed(statement.replace('"predicate":', '"predicate": '))],
    ['a byte order mark in the statement', signed(`\ufeff${statement}`)],
    [
      'a statement with a key twice',
      signed(statement.replace('"predicateType":', '"predicateType":"","predicateType":')),
    ],
    ['an older statement', stated((each) => Object.assign(each, { _type: 'https://in-toto.io/Statement/v0.1' }))],
    ['another predicate', stated((each) => Object.assign(each, { predicateType: 'https://slsa.dev/provenance/v1' }))],
    ['a later predicate', stated((each) => Object.assign(each, { predicateType: PREDICATE_TYPE.replace('v1', 'v2') }))],
    ['no subject', stated((each) => Object.assign(each, { subject: [] }))],
    ['two subjects', stated(({ subject }) => subject.push(...subject))],
    ['another subject', stated(({ subject }) => Object.assign(subject[0] ?? {}, { name: `${ORIGIN}#4` }))],
    ['another digest', stated(({ subject }) => Object.assign(subject[0] ?? {}, { digest: { sha256: sha256('') } }))],
    ['a second digest', stated(({ subject }) => Object.assign(subject[0]?.digest ?? {}, { sha512: sha256('') }))],
    ['another index', stated(({ predicate }) => Object.assign(predicate.entry, { index: 4 }))],
    ['an index above 2^53 - 1', signed(statement.replace('"index":3', '"index":9007199254740992'))],
    ['54 hashes', stated(({ predicate }) => Object.assign(predicate, { path: Array(54).fill(sha256('')) }))],
    ['a hash in upper case', stated(({ predicate }) => Object.assign(predicate, { path: [sha256('').toUpperCase()] }))],
    ['an unknown field in the predicate', stated(({ predicate }) => Object.assign(predicate, { extra: 1 }))],
    [
      'the checkpoint of another key',
      stated(({ predicate }) => Object.assign(predicate, { checkpoint: proveEntry(ENTRIES, 3, other).checkpoint })),
    ],
  ])('is refused with %s', (_, forged) => {
    expect(() => verifyDsse(forged, KEYS)).toThrow(BadFormat);
  });

  it('never holds after a change of any character, and never ends with another error', () => {
    assert(
      property(nat(ENVELOPE.length - 1), string({ minLength: 1, maxLength: 2 }), (at, patch) => {
        const forged = ENVELOPE.slice(0, at) + patch + ENVELOPE.slice(at + 1);
        if (forged === ENVELOPE) return;
        expect(isRefused(() => holdings(forged))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('one key for notes, receipts and envelopes', () => {
  const checkpoint = parseCheckpoint(PROOF.checkpoint);
  const key = formatVerifierKey(LOG_KEY.verifierKey);
  const payload = encoder.encode(canonicalize(statementIn(ENVELOPE)));
  const MESSAGES = {
    note: encoder.encode(checkpointText(checkpoint)),
    'key statement': encoder.encode(keyStatementText({ key })),
    receipt: receiptMessage(checkpoint, keyId(LOG_KEY.verifierKey)),
    envelope: dsseMessage('application/vnd.in-toto+json', payload),
  };

  it('signs messages that differ in their first bytes, and none is the beginning of another', () => {
    const beginning = (message: Uint8Array) => Buffer.from(message).toString('latin1').slice(0, 8);
    expect(Object.values(MESSAGES).map(beginning)).toEqual(['colibri/', 'colibri-', '\u0084jSignat', 'DSSEv1 2']);
  });

  for (const [name, message] of Object.entries(MESSAGES))
    it(`takes the signature of a ${name} for nothing else`, () => {
      const signature = LOG_KEY.sign(message);
      const note = `${checkpointText(checkpoint)}\n${LOG_KEY.signatureLine(signature)}`;
      const accepted = {
        note: !throws(() => verifyCheckpoint(note, KEYS)),
        'key statement':
          keyStatementDefect({ key, signature: Buffer.from(signature).toString('base64') }) === undefined,
        receipt: holds(
          () =>
            verifyReceipt(
              formatReceipt(PROOF, LOG_KEY.verifierKey, () => signature),
              KEYS,
            ).claims,
        ),
        envelope: holds(
          () =>
            verifyDsse(
              formatDsse(PROOF, LOG_KEY.verifierKey, () => signature),
              KEYS,
            ).claims,
        ),
      };
      expect(Object.entries(accepted).filter(([, isAccepted]) => isAccepted)).toEqual([[name, true]]);
    });

  it('has no note whose text is the message of a receipt or an envelope', () => {
    for (const message of [MESSAGES.receipt, MESSAGES.envelope]) {
      const text = Buffer.from(message).toString('latin1');
      expect(() => parseCheckpoint(`${text}\n${LOG_KEY.signatureLine(LOG_KEY.sign(message))}`)).toThrow(BadFormat);
    }
  });
});

function holds(judge: () => readonly { about: string; holds: string }[]): boolean {
  return judge().every((claim) => claim.holds !== 'no');
}

function throws(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    if (error instanceof BadFormat) return true;
    throw error;
  }
}

/** Whether a file is refused, or a claim about it fails. */
function isRefused(judge: () => Record<string, string>): boolean {
  try {
    return Object.values(judge()).includes('no');
  } catch (error) {
    if (error instanceof BadFormat) return true;
    throw error;
  }
}
