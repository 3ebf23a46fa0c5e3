import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { assert, nat, property, record, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadFormat } from '../bad-format.ts';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { checkpointText, parseCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import { isSignedBy as isSignedByInBrowser } from './ed25519.browser.ts';
import { isSignedBy } from './ed25519.ts';
import {
  cosignedText,
  formatNote,
  formatSignature,
  formatVerifierKey,
  keyId,
  parseNote,
  parseVerifierKey,
  type VerifierKey,
  verifyNote,
} from './signed-note.ts';
import { formatTlogProof, parseTlogProof } from './tlog-proof.ts';

/** The example of the specification, https://c2sp.org/signed-note. */
const VKEY = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const NOTE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
/** The example of https://c2sp.org/tlog-cosignature; its keys are not published. */
const CHECKPOINT = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
`;
const encoder = new TextEncoder();

describe('signed notes (C2SP)', () => {
  it('accepts the example of the specification', () => {
    const key = parseVerifierKey(VKEY);
    expect(formatVerifierKey(key)).toBe(VKEY);
    expect(verifyNote(parseNote(NOTE), [key])).toEqual([{ key }]);
    expect(formatNote(parseNote(NOTE))).toBe(NOTE);
  });

  it('ignores signatures of unknown keys', () => {
    const key = parseVerifierKey(VKEY);
    const other: VerifierKey = { ...key, name: 'example.com/other' };
    expect(verifyNote(parseNote(NOTE), [other])).toEqual([]);
  });

  it('refuses a note with a changed text or a signature of a known key that does not hold', () => {
    const key = parseVerifierKey(VKEY);
    const changed = parseNote(NOTE.replace('example message', 'forged message'));
    expect(() => verifyNote(changed, [key])).toThrow('does not hold');
    const { text, signatures } = parseNote(NOTE);
    const [signature] = signatures;
    const bytes = Uint8Array.from(signature?.bytes ?? []).fill(1, 0, 1);
    const forged = { text, signatures: [...signatures, { name: key.name, keyId: keyId(key), bytes }] };
    expect(() => verifyNote(forged, [key])).toThrow('does not hold');
  });

  it.each([
    ['no signature', 'text\n\n'],
    ['no blank line', 'text\n— a AAAAAAA=\n'],
    ['no final line feed', NOTE.slice(0, -1)],
    ['a carriage return', NOTE.replace('\n', '\r\n')],
    ['a hyphen for the dash', NOTE.replace('—', '-')],
    ['a name with a plus sign', NOTE.replace('example.com/foo', 'example+foo')],
    ['a name with a space of another kind', NOTE.replace('example.com/foo', 'example\u00a0foo')],
    ['two spaces', NOTE.replace('— ', '—  ')],
    ['base64 without padding', NOTE.replace('QM=', 'QM')],
    ['unused bits in base64', NOTE.replace('QM=', 'QN=')],
    ['base64 for URLs', NOTE.replace('Uw2QOkn8', 'Uw2_Okn8')],
    ['half of a surrogate pair', NOTE.replace('This', 'Thi\ud800')],
    ['a signature that is a key id only', 'text\n\n— a AAAAAA==\n'],
    ['too many signatures', `text\n\n${'— a AAAAAAA=\n'.repeat(101)}`],
  ])('refuses %s', (_, note) => {
    expect(() => verifyNote(parseNote(note), [parseVerifierKey(VKEY)])).toThrow(BadFormat);
  });

  it.each([
    ['another id', VKEY.replace('530d903a', '530d903b')],
    ['an unknown type', 'example.com/foo+530d903a+BekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'],
    ['a short key', 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U0='],
    ['no name', '+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'],
    ['two parts', 'example.com/foo+530d903a'],
    ['white space at the end', `${VKEY}\n`],
    ['upper-case digits', VKEY.replace('530d903a', '530D903A')],
  ])('refuses a key with %s', (_, text) => {
    expect(() => parseVerifierKey(text)).toThrow(BadFormat);
  });

  it('refuses every key of small order, and every second encoding of a key', () => {
    for (const publicKey of weakKeys()) {
      const text = formatVerifierKey({ name: 'weak', type: 'note', publicKey });
      expect(() => parseVerifierKey(text)).toThrow('not canonical or of small order');
    }
  });
});

describe('Ed25519', () => {
  const [seed, message] = [new Uint8Array(32).fill(7), encoder.encode('message')];
  const key = ed25519.getPublicKey(seed);
  const signature = ed25519.sign(message, seed);

  it('accepts what Node and the browser library sign, in both builds', () => {
    const pem = createPrivateKey({ key: pkcs8(seed), format: 'der', type: 'pkcs8' });
    expect(createPublicKey(pem).export({ format: 'der', type: 'spki' }).subarray(12)).toEqual(Buffer.from(key));
    for (const each of [signature, new Uint8Array(sign(null, message, pem))])
      expect([isSignedBy(key, message, each), isSignedByInBrowser(key, message, each)]).toEqual([true, true]);
  });

  it('gives the same verdict in Node and in the browser for damaged and crafted signatures', () => {
    const damaged = record({ at: nat(63), bit: nat(7), weak: nat(weakKeys().length - 1), kind: nat(3) });
    assert(
      property(damaged, ({ at, bit, weak, kind }) => {
        const bytes = Uint8Array.from(signature);
        const weakKey = weakKeys()[weak] ?? key;
        if (kind === 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        if (kind === 1) bytes.set(weakKey, 0);
        const usedKey = kind === 2 ? weakKey : key;
        const used = kind === 3 ? withTorsion(seed, message, weak) : bytes;
        const inNode = isSignedBy(usedKey, message, used);
        expect(isSignedByInBrowser(usedKey, message, used)).toBe(inNode);
        expect(inNode).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it('refuses a scalar beyond the order of the group', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const bytes = Uint8Array.from(signature);
    let scalar = bytes.subarray(32).reduceRight((value, byte) => value * 256n + BigInt(byte), 0n) + order;
    for (let at = 32; at < 64; at += 1, scalar /= 256n) bytes[at] = Number(scalar % 256n);
    expect([isSignedBy(key, message, bytes), isSignedByInBrowser(key, message, bytes)]).toEqual([false, false]);
  });
});

describe('checkpoints and proofs (C2SP)', () => {
  const seed = new Uint8Array(32).fill(9);
  const key: VerifierKey = { name: 'colibri/log', type: 'note', publicKey: ed25519.getPublicKey(seed) };
  const witness: VerifierKey = { name: 'witness.example/w1', type: 'cosignature', publicKey: key.publicKey };
  const text = checkpointText({ origin: 'colibri/log', size: 3, root: 'ab'.repeat(32) });
  const signed = `${text}\n${formatSignature({ name: key.name, keyId: keyId(key), bytes: ed25519.sign(encoder.encode(text), seed) })}`;

  it('reads the example of the specification and writes the same text', () => {
    const { origin, size, root, note } = parseCheckpoint(CHECKPOINT);
    expect({ origin, size }).toEqual({ origin: 'example.com/behind-the-sofa', size: 20_852_163 });
    expect(checkpointText({ origin, size, root })).toBe(note.text);
    expect(formatNote(note)).toBe(CHECKPOINT);
  });

  it('tells the keys of the log from witnesses, with the time that a witness states', () => {
    const time = 1_679_315_147;
    const stamp = [0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (time >>> shift) & 255)];
    const bytes = Uint8Array.from([...stamp, ...ed25519.sign(encoder.encode(cosignedText(text, time)), seed)]);
    const note = signed + formatSignature({ name: witness.name, keyId: keyId(witness), bytes });
    const verified = verifyCheckpoint(note, { log: [key], witnesses: [witness] });
    expect(verified).toMatchObject({ size: 3, signers: [key], witnesses: [{ key: witness, time }] });
    expect(() => verifyCheckpoint(note, { log: [], witnesses: [witness] })).toThrow('none of the given keys');
    const later = Uint8Array.from(bytes).fill(255, 7, 8);
    const forged = signed + formatSignature({ name: witness.name, keyId: keyId(witness), bytes: later });
    expect(() => verifyCheckpoint(forged, { log: [key], witnesses: [witness] })).toThrow('does not hold');
  });

  it.each([
    ['an extension line', text.replace(/\n$/, '\nextension\n')],
    ['a size with a leading zero', text.replace('\n3\n', '\n03\n')],
    ['a size beyond 2^53', text.replace('\n3\n', '\n9007199254740993\n')],
    ['a negative size', text.replace('\n3\n', '\n-3\n')],
    ['a short root', text.replace(/.{44}\n$/, 'q6ur\n')],
    ['an empty origin', text.replace('colibri/log', '')],
    ['a root of an empty log that is not empty', text.replace('\n3\n', '\n0\n')],
  ])('refuses a checkpoint with %s', (_, body) => {
    const bytes = ed25519.sign(encoder.encode(body), seed);
    const note = `${body}\n${formatSignature({ name: key.name, keyId: keyId(key), bytes })}`;
    expect(() => verifyCheckpoint(note, { log: [key] })).toThrow(BadFormat);
  });

  it('reads the proofs that it writes, and refuses every other header, index and hash', () => {
    const proof = { index: 2, path: ['cd'.repeat(32)], checkpoint: signed, extra: encoder.encode('{}') };
    const file = formatTlogProof(proof);
    expect(parseTlogProof(file)).toMatchObject({ index: 2, path: proof.path, checkpoint: signed, signed: { size: 3 } });
    for (const [from, to] of [
      ['@v1', '@v2'],
      ['index 2', 'index 02'],
      ['index 2', 'index'],
      ['zc3N', 'zc3'],
      ['extra e30=', 'extra e30'],
      ['\n\n', '\n'],
    ] as const)
      expect(() => parseTlogProof(file.replace(from, to)), `${from} to ${to}`).toThrow(BadFormat);
    const long = formatTlogProof({ ...proof, path: Array.from({ length: 54 }, () => 'cd'.repeat(32)) });
    expect(() => parseTlogProof(long)).toThrow('at most 53');
  });

  it('encodes and decodes every length of bytes in base64', () => {
    assert(
      property(uint8Array({ maxLength: 70 }), (bytes) => {
        expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(decodeBase64(encodeBase64(bytes), 'it')).toEqual(bytes);
      }),
    );
  });
});

/** Points of small order in all their encodings, canonical or not, and one other key with a second encoding. */
function weakKeys(): Uint8Array[] {
  const prime = 2n ** 255n - 19n;
  const ys = [0n, 1n, prime - 1n, prime, prime + 1n, prime + 3n, 2n ** 255n - 1n];
  const torsion = [
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ].map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
  const encoded = ys.map((y) => Uint8Array.from({ length: 32 }, (_, at) => Number((y >> BigInt(8 * at)) & 255n)));
  return [...encoded, ...torsion].flatMap((bytes) => [bytes, Uint8Array.from(bytes).fill((bytes[31] ?? 0) | 128, 31)]);
}

/**
 * A signature whose commitment has a part of small order: it holds only for a check that multiplies by the cofactor.
 */
function withTorsion(seed: Uint8Array, message: Uint8Array, which: number): Uint8Array {
  const bytes = Uint8Array.from(ed25519.sign(message, seed));
  const torsion = '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05';
  const point = ed25519.Point.fromBytes(bytes.slice(0, 32)).add(
    ed25519.Point.fromHex(torsion).multiplyUnsafe(BigInt((which % 7) + 1)),
  );
  bytes.set(point.toBytes(), 0);
  return bytes;
}

function pkcs8(seed: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
}
