import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { createEntries, LOG_KEY, proveEntry, rootOf } from '../../../test/vectors/signed-log.ts';
import { BadFormat } from '../bad-format.ts';
import { canonicalize } from '../canonical-json.ts';
import { formatDsse } from '../envelopes/dsse.ts';
import { keyStatementDefect } from '../notes/key-statement.ts';
import { formatVerifierKey, parseVerifierKey } from '../notes/signed-note.ts';
import { formatTlogProof } from '../notes/tlog-proof.ts';
import { BUNDLE_FORMAT, formatBundle } from './format.ts';
import { verifyText } from './verify-text.ts';

/**
 * What no parser accepts, for each text that a stranger may hand over. Receipts and envelopes have tests of their own.
 */

const ENTRIES = createEntries(6);
const CHECKPOINT = LOG_KEY.signCheckpoint(6, rootOf(ENTRIES));
const PROOF = proveEntry(ENTRIES, 3);
const KEY = formatVerifierKey(LOG_KEY.verifierKey);
const KEYS = { log: [LOG_KEY.verifierKey] };

const head = {
  format: BUNDLE_FORMAT,
  checkpoint: CHECKPOINT,
  scope: { kind: 'ledger' },
  redacted: false,
  entry_count: 6,
  hash_count: 0,
} as const;
const BUNDLE = [...formatBundle({ head, entries: ENTRIES, hashes: [] })].join('');

/** The extra line of a proof, with a change of its text. */
const proofWith = (change: (entry: string) => string) =>
  formatTlogProof({
    index: 3,
    path: PROOF.path,
    checkpoint: PROOF.checkpoint,
    extra: Buffer.from(change(canonicalize(PROOF.entry))),
  });
const TLOG_PROOF = proofWith((entry) => entry);

type Change = (text: string) => string;
const replace =
  (from: string | RegExp, to: string): Change =>
  (text) =>
    text.replace(from, to);

/** Changes of a line of JSON, wherever it is. */
const OF_JSON: readonly (readonly [name: string, change: Change])[] = [
  ['an unknown version of an entry', replace('\\"v\\":1}', '\\"v\\":2}')],
  ['an unknown kind of an entry', replace('action.enter', 'action.entered')],
  ['an unknown field', replace('"index":3', '"index":3,"label":1')],
  ['an unknown field in an entry', replace('\\"tool\\":', '\\"tools\\":')],
  ['a missing field', replace(',"index":3', '')],
  ['a key twice', replace('"index":3', '"index":3,"index":3')],
  ['a key twice in an entry', replace('\\"v\\":1}', '\\"v\\":1,\\"v\\":1}')],
  ['a key twice, once escaped', replace('"index":3', '"index":3,"\\u0069ndex":3')],
  ['keys in another order', replace(/("entry":"(?:[^"\\]|\\.)*"),("index":\d+)/, '$2,$1')],
  ['white space', replace('"index":3', '"index": 3')],
  ['white space in an entry', replace('{\\"actor\\"', '{ \\"actor\\"')],
  ['a needless escape', replace('"salt":"0', '"salt":"\\u0030')],
  ['an escape in upper case', replace('"text":"{', '"text":"\\u007B')],
  ['a number with a fraction', replace('"index":3', '"index":3.0')],
  ['a number with an exponent', replace('"index":3', '"index":3e0')],
  ['a number with a leading zero', replace('"index":3', '"index":03')],
  ['minus zero', replace('"index":3', '"index":-0')],
  ['a negative number', replace('"index":3', '"index":-3')],
  ['a number above 2^53 - 1', replace('"index":3', '"index":9007199254740992')],
  ['a number without end', replace('"index":3', `"index":${'9'.repeat(400)}`)],
  ['a number as text', replace('"index":3', '"index":"3"')],
  ['null for a text', replace('"salt":"', '"salt":null,"x":"')],
  ['a salt in upper case', replace('abcdef', 'ABCDEF')],
  ['half of a surrogate pair', replace('"text":"', '"text":"\\ud800')],
  ['a NUL', replace('"index":3', '"index":3\u0000')],
];

/** Changes of a signed checkpoint, wherever it is. */
const OF_CHECKPOINTS: readonly (readonly [name: string, change: Change])[] = [
  ['a size with a leading zero', replace(/(\\n|\n)6(\\n|\n)/, '$106$2')],
  ['a size above 2^53 - 1', replace(/(\\n|\n)6(\\n|\n)/, '$19007199254740992$2')],
  ['a negative size', replace(/(\\n|\n)6(\\n|\n)/, '$1-6$2')],
  ['an extension line', replace(/(=)(\\n|\n)(\\n|\n)\u2014/, '$1$2extension$2$3\u2014')],
  ['a root without padding', replace(/=(\\n\\n|\n\n)\u2014/, '$1\u2014')],
  ['a root with unused bits', replace(/[A-Za-z0-9+/]=(\\n\\n|\n\n)\u2014/, 'B=$1\u2014')],
  ['a root of another alphabet', replace(/[A-Za-z0-9+/]{2}=(\\n\\n|\n\n)\u2014/, '-_=$1\u2014')],
  ['a short root', replace(/[A-Za-z0-9+/]{3}=(\\n\\n|\n\n)\u2014/, '$1\u2014')],
  ['a signature without padding', replace(/=(\\n"|\n$)/, '$1')],
  ['a signature of another alphabet', replace(/.=(\\n"|\n$)/, '_=$1')],
  ['a hyphen for the dash', replace('\u2014', '-')],
  ['two spaces', replace('\u2014 ', '\u2014  ')],
  ['a carriage return', replace(/(\\n|\n)6/, '\\r$16')],
];

const isRefused = (text: string): boolean => {
  try {
    verifyText(text, KEYS);
    return false;
  } catch (error) {
    if (error instanceof BadFormat) return true;
    throw error;
  }
};

function expectRefused(
  changes: readonly (readonly [name: string, change: Change])[],
  make: (change: Change) => string,
) {
  const honest = make((text) => text);
  expect(isRefused(honest)).toBe(false);
  const accepted = changes.filter(([, change]) => !isRefused(make(change))).map(([name]) => name);
  expect(accepted).toEqual([]);
  expect(changes.filter(([, change]) => make(change) === honest)).toEqual([]);
}

describe('strict parsers', () => {
  promiseTest('bundle/strict', 'a line of a bundle', () => {
    const line = BUNDLE.split('\n')[4] ?? '';
    expectRefused(OF_JSON, (change) => BUNDLE.replace(line, () => change(line)));
  });

  promiseTest('bundle/strict', 'the entry of a proof', () => {
    expectRefused(OF_JSON, proofWith);
  });

  promiseTest('bundle/strict', 'the checkpoint of a bundle and of a proof', () => {
    expectRefused(OF_CHECKPOINTS, (change) => change(BUNDLE));
    expectRefused(OF_CHECKPOINTS, (change) => change(TLOG_PROOF));
  });

  promiseTest('bundle/strict', 'the head and the lines of a bundle', () => {
    expectRefused(
      [
        ['another format', replace('bundle/v1', 'bundle/v2')],
        ['another scope', replace('"kind":"ledger"', '"kind":"universe"')],
        ['a scope with too much', replace('"kind":"ledger"', '"kind":"ledger","task_id":"T-0001"')],
        ['a scope with a bad id', replace('"kind":"ledger"', '"kind":"task","task_id":"T-042"')],
        ['a count above 2^53 - 1', replace('"entry_count":6', '"entry_count":9007199254740992')],
        ['a count that is too large', replace('"entry_count":6', '"entry_count":7')],
        ['a count that is too small', replace('"entry_count":6', '"entry_count":5')],
        ['a key twice', replace('"redacted":false', '"redacted":false,"redacted":false')],
        ['a number for a boolean', replace('"redacted":false', '"redacted":0')],
        ['no entries', replace('"entry_count":6', '"entry_count":0')],
        ['an empty line', replace('\n', '\n\n')],
        ['no last line feed', replace(/\n$/, '')],
        ['carriage returns', (text) => text.replaceAll('\n', '\r\n')],
        ['a byte order mark', (text) => `\ufeff${text}`],
        ['a hash too many', (text) => `${text.replace('"hash_count":0', '"hash_count":1')}"${'0'.repeat(64)}"\n`],
        ['an entry twice', (text) => text.replace('"entry_count":6', '"entry_count":7').replace(/([^\n]*\n)$/, '$1$1')],
      ],
      (change) => change(BUNDLE),
    );
  });

  promiseTest('bundle/strict', 'the lines of a proof', () => {
    expectRefused(
      [
        ['another version', replace('tlog-proof@v1', 'tlog-proof@v2')],
        ['no entry', replace(/extra [^\n]*\n/, '')],
        ['extra data for URLs', replace(/extra ../, 'extra -_')],
        ['extra data without padding', replace(/extra ([^\n]*?)=*\n/, 'extra $1A\n')],
        ['an index with a sign', replace('index 3', 'index +3')],
        ['an index with a leading zero', replace('index 3', 'index 03')],
        ['an index above 2^53 - 1', replace('index 3', 'index 9007199254740992')],
        ['another index', replace('index 3', 'index 4')],
        ['a hash in hexadecimal', replace(/index 3\n[^\n]*/, `index 3\n${'0'.repeat(64)}`)],
        ['an unknown line', replace('index 3\n', 'index 3\nlabel x\n')],
        ['54 hashes', replace('index 3\n', `index 3\n${`${'A'.repeat(43)}=\n`.repeat(54)}`)],
        ['a byte order mark', (text) => `\ufeff${text}`],
      ],
      (change) => change(TLOG_PROOF),
    );
  });

  promiseTest('bundle/strict', 'a file of another kind', () => {
    const envelope = formatDsse(PROOF, LOG_KEY.verifierKey, LOG_KEY.sign);
    expect(isRefused(envelope)).toBe(false);
    for (const text of ['', '\n', '{}', '[]', 'null', CHECKPOINT, KEY, ` ${BUNDLE}`, ` ${envelope}`, `\n${TLOG_PROOF}`])
      expect(isRefused(text), text.slice(0, 20)).toBe(true);
  });

  promiseTest('bundle/strict', 'a verifier key', () => {
    const [name, id, key] = KEY.split('+', 2).concat(KEY.split('+').slice(2).join('+'));
    expect(() => parseVerifierKey(KEY)).not.toThrow();
    for (const text of [
      `${KEY}\n`,
      ` ${KEY}`,
      KEY.slice(0, -1),
      `${name}+${id?.toUpperCase()}+${key}`,
      `${name}+00000000+${key}`,
      `${name} +${id}+${key}`,
      `+${id}+${key}`,
      `${name}+${id}+Ag${key?.slice(2)}`,
      `${name}+${id}+${key}=`,
      ...WEAK_KEYS.map((publicKey) => formatVerifierKey({ ...LOG_KEY.verifierKey, publicKey })),
      ...WEAK_KEYS.map((publicKey) => formatVerifierKey({ ...LOG_KEY.verifierKey, type: 'cosignature', publicKey })),
    ])
      expect(() => parseVerifierKey(text), text).toThrow(BadFormat);
  });

  promiseTest('bundle/strict', 'a weak key that the log itself introduces', () => {
    for (const publicKey of WEAK_KEYS) {
      const key = formatVerifierKey({ ...LOG_KEY.verifierKey, publicKey });
      // With a key of order 1 this signature holds for every message.
      const signature = Buffer.concat([Buffer.from([1]), Buffer.alloc(63)]).toString('base64');
      expect(keyStatementDefect({ key, signature })).toContain('small order');
      const text = { actor: 'alice', at: '2026-11-16T12:00:00.000Z', key, kind: 'key.added', signature, v: 1 };
      const entries = ENTRIES.with(2, { index: 2, entry: canonicalize(text) });
      const checkpoint = LOG_KEY.signCheckpoint(6, rootOf(entries));
      const bundle = [...formatBundle({ head: { ...head, checkpoint }, entries, hashes: [] })].join('');
      const { claims } = verifyText(bundle, KEYS);
      expect(claims.find(({ about }) => about === 'keys')).toMatchObject({ holds: 'no' });
    }
  });
});

/** Points of small order, and second encodings of points. */
const WEAK_KEYS = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
].map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
