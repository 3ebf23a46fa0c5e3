import { assert, nat, property, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEntries, LOG_KEY, ORIGIN, proveEntry, rootOf, TestKey } from '../../../test/vectors/signed-log.ts';
import { BadFormat } from '../bad-format.ts';
import type { TrustedKeys } from '../bundle/verify.ts';
import { isConsistent, isIncluded, leafHash, nodeHash } from '../merkle.ts';
import { isSignedBy as isSignedByInBrowser } from '../notes/ed25519.browser.ts';
import { isSignedBy } from '../notes/ed25519.ts';
import { keyId } from '../notes/signed-note.ts';
import { type Cbor, type CborMap, decodeCbor, encodeCbor } from './cbor.ts';
import { formatReceipt, verifyReceipt } from './cose-receipt.ts';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const KEYS: TrustedKeys = { log: [LOG_KEY.verifierKey] };
const ENTRIES = createEntries(11);
const PROOF = proveEntry(ENTRIES, 3);
const RECEIPT = formatReceipt(PROOF, LOG_KEY.verifierKey, LOG_KEY.sign);

const holdings = (receipt: Uint8Array, keys = KEYS) =>
  Object.fromEntries(verifyReceipt(receipt, keys).claims.map(({ about, holds }) => [about, holds]));

type Parts = [header: Map<number, Cbor>, rest: Map<number, Cbor>, payload: Cbor, signature: Cbor];

/** The receipt with a change of its decoded parts. */
function changed(change: (parts: Parts) => void, prefix = Uint8Array.of(0xd2)): Uint8Array {
  const [header, rest, payload, signature] = decodeCbor(RECEIPT.subarray(1)) as [Uint8Array, CborMap, null, Uint8Array];
  const parts: Parts = [new Map(decodeCbor(header) as CborMap), new Map(rest), payload, signature];
  change(parts);
  return Buffer.concat([prefix, encodeCbor([encodeCbor(parts[0]), ...parts.slice(1)])]);
}

/** The receipt with another inclusion proof. */
function withProof(change: (proof: Cbor[]) => Cbor): Uint8Array {
  return changed(([, rest]) => {
    const [encoded] = (rest.get(396) as CborMap).get(-1) as [Uint8Array];
    rest.set(396, new Map([[-1, [encodeCbor(change([...(decodeCbor(encoded) as Cbor[])]))]]]));
  });
}

describe('the structures of the standards', () => {
  /** eddsa-sig-01 of https://github.com/cose-wg/Examples: RFC 9052 and 9053 with Ed25519. */
  it('builds the Sig_structure of COSE_Sign1 that the examples of the working group sign', () => {
    const message = '846a5369676e61747572653145a2012703004054546869732069732074686520636f6e74656e742e';
    const signed =
      'd28445a201270300a10442313154546869732069732074686520636f6e74656e742e5840' +
      '7142fd2ff96d56db85bee905a76ba1d0b7321a95c8c4d3607c5781932b7afb8711497dfa751bf40b58b3bcc32300b1487f3db34085eef013bf08f4a44d6fef0d';
    const key = bytes('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
    const [header, , payload, signature] = decodeCbor(bytes(signed).subarray(1)) as [Cbor, Cbor, Cbor, Uint8Array];
    const built = encodeCbor(['Signature1', header, new Uint8Array(0), payload]);
    expect(Buffer.from(built).toString('hex')).toBe(message);
    for (const check of [isSignedBy, isSignedByInBrowser]) {
      expect(check(key, built, signature)).toBe(true);
      expect(check(key, built.with(0, 0x85), signature)).toBe(false);
    }
  });

  /**
   * Both of https://github.com/cose-wg/draft-ietf-cose-merkle-tree-proofs, examples/: a log of 3 and then 5 entries.
   */
  const HEADER =
    'a40126044a746573742d6b65792d3119018b010fa101782868747470733a2f2f7472616e73706172656e63792d736572766963652e6578616d706c652e636f6d';
  const HASHES = {
    third: '3d06455dd33da4e9bbd8090677a2d0955e6dffe4b92069605a468920d1198095',
    fourth: '987ba8093cabe31046a77bbe9aa4b5f62675d943386c7fbbe249cbaca5da242d',
    firstTwo: '33a5211719e06238a191c7244a7633187da2c9aaa5bc6dec54e2cbb498255434',
    fifth: '4d75742d9ea02f7767dcd554a7878ff22cdb208be9f3d35f7aa7700b57e741c0',
  };
  const { third, fourth, firstTwo, fifth } = HASHES;
  const SIGNATURE =
    '34e81008fb0e4e521657668745450df608d0e5c015dffc5d607dd78236c2908f4e2b643817d9191d0abd7c074aff2b1bfda519ab3fab210ff2e0a1de275de6a7';
  const EXAMPLE = `d2845840${HEADER}a119018ca12081586a8305038358203d${third.slice(2)}5820${firstTwo}5820${fifth}f65840${SIGNATURE}`;

  it('reads the inclusion proof of the example of RFC 9942, which leads to the root of its consistency proof', () => {
    const [header, rest, payload] = decodeCbor(bytes(EXAMPLE).subarray(1)) as [Uint8Array, CborMap, Cbor];
    expect(payload).toBeNull();
    const [encoded] = (rest.get(396) as CborMap).get(-1) as [Uint8Array];
    expect(decodeCbor(encoded)).toEqual([5, 3, [third, firstTwo, fifth].map(bytes)]);
    const root = nodeHash(nodeHash(firstTwo, nodeHash(third, fourth)), fifth);
    expect(isIncluded({ leaf: fourth, index: 3, size: 5, proof: [third, firstTwo, fifth], root })).toBe(true);
    const oldRoot = nodeHash(firstTwo, third);
    const proof = [third, fourth, firstTwo, fifth];
    expect(isConsistent({ oldSize: 3, oldRoot, size: 5, root, proof })).toBe(true);
    // The example puts label 395 before 15, which is not the deterministic order.
    expect(() => decodeCbor(header)).toThrow('not in order');
    const sorted = HEADER.replace(/19018b01(0fa1.*)$/, '$119018b01');
    expect([...(decodeCbor(bytes(sorted)) as CborMap).keys()]).toEqual([1, 4, 15, 395]);
    expect(() => verifyReceipt(bytes(EXAMPLE.replace(HEADER, sorted)), KEYS)).toThrow(BadFormat);
  });

  it('writes a receipt of the same shape', () => {
    const [header, rest, payload, signature] = decodeCbor(RECEIPT.subarray(1)) as [Uint8Array, CborMap, Cbor, Cbor];
    expect(RECEIPT[0]).toBe(0xd2);
    expect(decodeCbor(header)).toEqual(
      new Map<number, Cbor>([
        [1, -8],
        [4, bytes(keyId(LOG_KEY.verifierKey))],
        [15, new Map([[1, ORIGIN]])],
        [395, 1],
      ]),
    );
    expect([payload, (signature as Uint8Array).length]).toEqual([null, 64]);
    const [proof] = (rest.get(396) as CborMap).get(-1) as [Uint8Array];
    expect(decodeCbor(proof)).toEqual([11, 3, PROOF.path.map(bytes)]);
  });
});

describe('a COSE receipt', () => {
  it('makes the claims of the proof in it, and one about its own signature', () => {
    expect(holdings(RECEIPT)).toEqual({
      checkpoint: 'yes',
      envelope: 'yes',
      inclusion: 'yes',
      content: 'yes',
      completeness: 'unknown',
      witnesses: 'unknown',
      truth: 'unknown',
    });
  });

  it('carries the cosignatures of witnesses', () => {
    const witness = new TestKey(2, 'cosignature', 'witness.example');
    const checkpoint = PROOF.checkpoint + witness.cosign(PROOF.checkpoint, 1_700_000_000);
    const receipt = formatReceipt({ ...PROOF, checkpoint }, LOG_KEY.verifierKey, LOG_KEY.sign);
    expect(holdings(receipt, { ...KEYS, witnesses: [witness.verifierKey] })['witnesses']).toBe('yes');
  });

  const other = new TestKey(3);
  const longer = proveEntry(createEntries(12), 3);
  const setEntry = (change: (text: string) => string) =>
    changed(([, rest]) => rest.set(-65538, change(rest.get(-65538) as string)));
  const setSignature = (signature: Cbor) => changed((parts) => parts.splice(3, 1, signature));

  it.each<[name: string, forged: Uint8Array]>([
    ['another signature', changed((parts) => parts.splice(3, 1, (parts[3] as Uint8Array).with(0, 1)))],
    ['a signature of zeros', setSignature(new Uint8Array(64))],
    ['a short signature', setSignature(new Uint8Array(63))],
    ['an empty signature', setSignature(new Uint8Array(0))],
    ['another key id', changed(([header]) => header.set(4, bytes('00000000')))],
    ['the whole key as its id', changed(([header]) => header.set(4, LOG_KEY.verifierKey.publicKey))],
    ['the signature of another key', formatReceipt(PROOF, LOG_KEY.verifierKey, other.sign)],
    ['another key', formatReceipt(PROOF, other.verifierKey, other.sign)],
    ['the signature of its note', formatReceipt(PROOF, LOG_KEY.verifierKey, () => LOG_KEY.signText(PROOF.checkpoint))],
    ['other hashes', withProof(([size = 0, index = 0]) => [size, index, PROOF.path.map(() => new Uint8Array(32))])],
    ['a hash less', withProof(([size = 0, index = 0, path]) => [size, index, (path as Cbor[]).slice(1)])],
    ['another actor', setEntry((text) => text.replace('alice', 'mallory'))],
    ['other content', setEntry((text) => text.replace('call 3', 'call 4'))],
    ['another salt', setEntry((text) => text.replace('"salt":"01', '"salt":"ff'))],
  ])('does not hold with %s', (_, forged) => {
    expect(Object.values(holdings(forged))).toContain('no');
  });

  it.each<[name: string, forged: Uint8Array]>([
    ['no tag', RECEIPT.subarray(1)],
    ['the tag of COSE_Sign', changed(() => undefined, bytes('d862'))],
    ['a tag in two bytes', changed(() => undefined, bytes('d812'))],
    ['a byte more', Buffer.concat([RECEIPT, bytes('00')])],
    ['a byte less', RECEIPT.subarray(0, -1)],
    ['five parts', changed((parts) => (parts as Cbor[]).push(null))],
    ['an attached payload', changed((parts) => parts.splice(2, 1, new Uint8Array(32)))],
    ['a text as the signature', setSignature('signature')],
    ['another algorithm', changed(([header]) => header.set(1, -7))],
    ['the newer number of Ed25519', changed(([header]) => header.set(1, -19))],
    ['no algorithm', changed(([header]) => header.delete(1))],
    ['a critical header', changed(([header]) => header.set(2, [1]))],
    ['no key id', changed(([header]) => header.delete(4))],
    ['a text as the key id', changed(([header]) => header.set(4, keyId(LOG_KEY.verifierKey)))],
    ['another data structure', changed(([header]) => header.set(395, 2))],
    ['no data structure', changed(([header]) => header.delete(395))],
    ['another issuer', changed(([header]) => header.set(15, new Map([[1, `${ORIGIN}0`]])))],
    [
      'a subject beside the issuer',
      changed(([header]) =>
        header.set(
          15,
          new Map([
            [1, ORIGIN],
            [2, 'x'],
          ]),
        ),
      ),
    ],
    ['no issuer', changed(([header]) => header.set(15, new Map()))],
    ['an unknown unprotected header', changed(([, rest]) => rest.set(7, null))],
    ['no proofs', changed(([, rest]) => rest.delete(396))],
    ['a consistency proof', changed(([, rest]) => rest.set(396, new Map([[-2, [new Uint8Array(1)]]])))],
    ['no proof', changed(([, rest]) => rest.set(396, new Map([[-1, []]])))],
    ['two proofs', changed(([, rest]) => rest.set(396, new Map([[-1, [bytes('830000'), bytes('830000')]]])))],
    ['a proof that is not wrapped', changed(([, rest]) => rest.set(396, new Map([[-1, [[11, 3, []]]]])))],
    ['another index', withProof(([size = 0, , path = []]) => [size, 4, path])],
    ['a negative index', withProof(([size = 0, , path = []]) => [size, -3, path])],
    ['a larger size', withProof(([, index = 0, path = []]) => [12, index, path])],
    ['a smaller size', withProof(([, index = 0, path = []]) => [10, index, path])],
    ['no hashes', withProof(([size = 0, index = 0]) => [size, index, []])],
    [
      '54 hashes',
      withProof(([size = 0, index = 0]) => [size, index, Array.from({ length: 54 }, () => new Uint8Array(32))]),
    ],
    [
      'a short hash',
      withProof(([size = 0, index = 0, path]) => [size, index, [...(path as Cbor[]).slice(1), new Uint8Array(31)]]),
    ],
    ['a hash in hexadecimal', withProof(([size = 0, index = 0]) => [size, index, [...PROOF.path]])],
    ['no checkpoint', changed(([, rest]) => rest.delete(-65537))],
    ['the checkpoint of a longer log', changed(([, rest]) => rest.set(-65537, longer.checkpoint))],
    ['an unsigned checkpoint', changed(([, rest]) => rest.set(-65537, PROOF.checkpoint.split('\n\n')[0] ?? ''))],
    [
      'the checkpoint of another key',
      changed(([, rest]) => rest.set(-65537, proveEntry(ENTRIES, 3, other).checkpoint)),
    ],
    ['no entry', changed(([, rest]) => rest.delete(-65538))],
    ['the entry of another index', setEntry((text) => text.replace('"index":3', '"index":4'))],
    ['an entry that is not canonical', setEntry((text) => text.replace('"index":3', '"index": 3'))],
    ['an entry with a key twice', setEntry((text) => text.replace('"index":3', '"index":3,"index":3'))],
    ['an entry of an unknown kind', setEntry((text) => text.replace('action.enter', 'action.entry'))],
  ])('is refused with %s', (_, forged) => {
    expect(() => verifyReceipt(forged, KEYS)).toThrow(BadFormat);
  });

  it('refuses a receipt at another index with the same root, which its signature does not cover', () => {
    const entries = createEntries(3);
    const proof = proveEntry(entries, 2);
    const { path, checkpoint } = proof;
    const root = rootOf(entries);
    // RFC 9162 gives entry 2 of 3 the path of entry 1 of 2, so a receipt alone proves neither index nor size.
    expect(isIncluded({ leaf: leafHash(proof.entry.entry), index: 1, size: 2, proof: path, root })).toBe(true);
    const moved = { entry: { ...proof.entry, index: 1 }, path, checkpoint };
    const forged = formatReceipt(moved, LOG_KEY.verifierKey, LOG_KEY.sign);
    expect(holdings(forged)['inclusion']).toBe('no');
  });

  it('refuses a receipt without a key of its log', () => {
    for (const key of [other, new TestKey(1, 'note', 'colibri/other'), new TestKey(1, 'cosignature')])
      expect(() => verifyReceipt(RECEIPT, { log: [key.verifierKey] })).toThrow('none of the given keys');
  });

  it('never holds after a change of any byte, and never ends with another error', () => {
    assert(
      property(nat(RECEIPT.length - 1), uint8Array({ minLength: 1, maxLength: 2 }), (at, patch) => {
        const forged = Buffer.concat([RECEIPT.subarray(0, at), patch, RECEIPT.subarray(at + 1)]);
        if (forged.equals(RECEIPT)) return;
        expect(isRefused(() => holdings(forged))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

/** Whether a file is refused, or a claim about it fails. */
function isRefused(judge: () => Record<string, string>): boolean {
  try {
    return Object.values(judge()).includes('no');
  } catch (error) {
    if (error instanceof BadFormat) return true;
    throw error;
  }
}
