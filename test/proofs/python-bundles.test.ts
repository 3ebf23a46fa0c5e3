import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect } from 'vitest';
import {
  BadFormat,
  embeddingTags,
  encodeEntry,
  findPacked,
  formatDsse,
  formatReceipt,
  parseVerifierKey,
  verifyBytes,
} from '../../src/integrity/index.ts';
import { sampleInputs, TARGETS } from '../fuzz/fuzz.ts';
import { VALUES } from '../fuzz/hostile-values.ts';
import { signLog, WITH_CONTENT } from '../fuzz/sample-log.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sizeOf } from '../support/properties.ts';
import { buildRuleLedger, openFile } from '../support/sample-ledgers.ts';
import { signingKey } from '../support/signing-key.ts';
import { judgeInPython } from './fixtures/python-verifier.ts';
import { readSignedLog, SignedLog } from './fixtures/signed-log.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-python-bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Judged = { readonly verdict: string; readonly claims?: readonly string[] };

function judgeInNode(file: string | Buffer, key: string): Judged {
  try {
    const bytes = Buffer.from(file as string);
    const packed = findPacked(bytes);
    const { claims } = verifyBytes(packed === undefined ? bytes : gunzipSync(packed), { log: [parseVerifierKey(key)] });
    const verdict = claims.some(({ holds }) => holds === 'no') ? 'tampered' : 'whole';
    return { verdict, claims: claims.map(({ about, holds }) => `${about}: ${holds}`) };
  } catch (error) {
    if (error instanceof BadFormat) return { verdict: 'bad input' };
    throw error;
  }
}

/** Both verifiers must say the same about each file, claim by claim. Returns the verdicts. */
function compare(texts: readonly (string | Buffer)[], key: string): string[] {
  const files = texts.map((text, place) => {
    const file = join(folder, `bundle-${place}`);
    writeFileSync(file, text);
    return file;
  });
  const node = texts.map((text) => judgeInNode(text, key));
  const python = judgeInPython(files.map((file) => [file, key]))?.map(({ verdict, claims }): Judged => {
    return { verdict, ...(claims && { claims: claims.map(({ about, holds }) => `${about}: ${holds}`) }) };
  });
  for (const [place, report] of (python ?? node).entries())
    expect(report, texts[place]?.toString('latin1').slice(0, 3000)).toEqual(node[place]);
  return node.map(({ verdict }) => verdict);
}

describe('examples/verify.py on bundles and proofs', () => {
  promiseTest('format/python', 'of a ledger with every kind of entry', async () => {
    const path = join(folder, 'rules.db');
    await buildRuleLedger(path);
    const database = await openFile(path);
    const log = await database.read(readSignedLog);
    await database.close();
    const indexes = log.entries.map(({ index }) => index);
    const some = indexes.filter((index) => index % 3 === 0);
    const texts = [
      log.bundle(),
      log.bundle(some),
      log.bundle(indexes.slice(20), { kind: 'since', since: '2026-04-08T22:15:30.000Z' }),
      ...some.map((index) => log.proof(index)),
    ];
    expect(new Set(compare(texts, log.key))).toEqual(new Set(['whole']));
    expect(compare([log.bundle()], log.key.replace(/.$/, 'B'))).toEqual(['bad input']);
  });

  promiseTest('format/python', 'that were changed', () => {
    const count = sizeOf({ test: 80, torture: 5000 });
    const encodings = {
      bundle: 'utf8',
      'proof-file': 'utf8',
      'dsse-envelope': 'utf8',
      'cose-receipt': 'latin1',
    } as const;
    const files = Object.entries(encodings).flatMap(([name, encoding]) =>
      TARGETS.filter((target) => target.name === name).flatMap((target) =>
        sampleInputs(target, 6962, count).map((text) => Buffer.from(text, encoding)),
      ),
    );
    expect([...new Set(compare(files, signLog().key))].toSorted()).toEqual(['bad input', 'tampered', 'whole']);
  });

  promiseTest('format/python', 'in a COSE receipt, in a DSSE envelope and in a page', () => {
    const log = signLog();
    const [key, signer] = [parseVerifierKey(log.key), signingKey(2)];
    const sign = (message: Uint8Array) => signer.signBytes(message);
    const other = (message: Uint8Array) => signingKey(1).signBytes(message);
    const none = () => new Uint8Array(5);
    const proof = log.inclusion(7);
    const forged = { ...proof, path: proof.path.toReversed() };
    const envelopes = [formatReceipt, formatDsse].flatMap((format) =>
      [sign, other, none].map((by) => format(proof, key, by)).concat(format(forged, key, sign)),
    );
    const sound = ['whole', 'tampered', 'tampered', 'tampered'];
    expect(
      compare(
        envelopes.map((file) => Buffer.from(file as string)),
        log.key,
      ),
    ).toEqual([...sound, ...sound]);
    const longest = { ...proof, path: Array.from({ length: 54 }, () => '0'.repeat(64)) };
    const tooLong = [formatReceipt(longest, key, sign), formatDsse(longest, key, sign)];
    expect(
      compare(
        tooLong.map((file) => Buffer.from(file as string)),
        log.key,
      ),
    ).toEqual(['bad input', 'bad input']);
    const [begin, end] = embeddingTags('board');
    const bundle = `${begin}${gzipSync(log.bundle()).toString('base64')}${end}`;
    const pages = [bundle, bundle + bundle, '', bundle.replace(end, '')];
    expect(
      compare(
        pages.map((body) => `<!doctype html><p>${body}</p>`),
        log.key,
      ),
    ).toEqual(['whole', 'bad input', 'bad input', 'bad input']);
  });

  promiseTest('format/python', 'with any value as a content that the key has signed', () => {
    const texts = WITH_CONTENT.flatMap(({ index, record }, turn) =>
      VALUES.slice(0, -1)
        .filter((_, place) => place % sizeOf({ test: 8, torture: 1 }) === turn % sizeOf({ test: 8, torture: 1 }))
        .flatMap((value) => {
          const content = record.content && { ...record.content, text: JSON.stringify(value) };
          return content === undefined ? [] : [signLog({ index, record: { ...record, content } }).bundle([index])];
        }),
    );
    expect(compare(texts, signLog().key)).toContain('tampered');
  });

  promiseTest('format/python', 'with a second or an impossible redaction, and of a log that continues another', () => {
    const { entries, key } = signLog();
    const redaction = { v: 1, kind: 'redaction', at: '2026-04-09T00:00:00.000Z', actor: 'person:ada' } as const;
    const withRedactions = (...fields: readonly { redacts: number; remains?: string }[]) => {
      const added = fields.map((each, place) => {
        const entry = encodeEntry({ ...redaction, ...each, reason: '0'.repeat(64) });
        return { index: entries.length + place, entry };
      });
      const redacted = new Set(fields.map(({ redacts }) => redacts));
      const kept = entries.map(({ index, entry, disclosed }) =>
        disclosed === undefined || redacted.has(index) ? { index, entry } : { index, entry, disclosed },
      );
      return new SignedLog([...kept, ...added]).bundle();
    };
    const remains = '1'.repeat(64);
    const texts = [
      withRedactions({ redacts: 3 }, { redacts: 6 }),
      withRedactions({ redacts: 3 }, { redacts: 3 }),
      withRedactions({ redacts: 3 }, { redacts: 3, remains }),
      withRedactions({ redacts: 3, remains }),
      withRedactions({ redacts: entries.length }),
    ];
    expect(compare(texts, key)).toEqual(['whole', 'tampered', 'tampered', 'tampered', 'tampered']);
    const continues = { ledger_id: LEDGER_ID, leaf: remains, size: 1, root: remains };
    const first = JSON.parse(entries[0]?.entry ?? '') as { ledger_id: string };
    const record = { kind: 'genesis', fields: { ledger_id: first.ledger_id, continues } } as const;
    const continued = signLog({ index: 0, record });
    expect(compare([continued.bundle(), continued.bundle([0, 1, 2])], continued.key)).toEqual(['whole', 'whole']);
    expect(judgeInNode(continued.bundle(), continued.key).claims).toContain('continuation: unknown');
  });

  promiseTest('format/python', 'refuses a key of the log as a witness, and arguments that it does not know', () => {
    const log = signLog();
    const file = join(folder, 'bundle');
    writeFileSync(file, log.bundle());
    const run = (...args: string[]) => spawnSync('python3', ['-B', 'examples/verify.py', ...args]).status;
    if (run(file, '--key', log.key) === null) return;
    expect(run(file, '--key', log.key)).toBe(0);
    expect(run(file, '--key', log.key, '--witness', log.key)).toBe(3);
    expect(run(file, '--keys')).toBe(3);
    expect(run()).toBe(3);
  });
});

const LEDGER_ID = '00000000-0000-4000-8000-000000000002';
