import { readFileSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import * as fc from 'fast-check';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { plainJson } from '../support/properties.ts';
import { createEntries, LOG_KEY, proveEntry } from '../vectors/signed-log.ts';
import { readCanonicalVectors, readConsistencyVectors, readInclusionVectors } from '../vectors/vectors.ts';

type Integrity = typeof import('../../src/integrity/index.ts');

const BUNDLE = readFileSync(new URL('../../dist/integrity.browser.js', import.meta.url), 'utf8');
let integrity: Integrity;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  integrity = (await import(new URL('../../dist/integrity.js', import.meta.url).href)) as Integrity;
  browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args, '--no-sandbox', '--disable-background-networking'],
  });
  page = await browser.newPage();
  // A data URL contains the module: no port is opened and nothing is fetched.
  const url = `data:text/javascript;base64,${Buffer.from(BUNDLE).toString('base64')}`;
  await page.evaluate(`import('${url}').then((module) => { globalThis.integrity = module; })`);
});

afterAll(() => browser?.close());

/** Runs one task here and there. It travels as its own source, so it may use nothing but its two parameters. */
async function inBoth<Input>(input: Input, task: (integrity: Integrity, input: Input) => unknown) {
  // The input and the answers travel as text: the evaluation protocol has its own ideas of __proto__ and minus zero.
  const text = JSON.stringify(input);
  const answer = await page.evaluate<string>(
    `JSON.stringify((${task.toString()})(globalThis.integrity, JSON.parse(${JSON.stringify(text)})))`,
  );
  const inNode: unknown = JSON.parse(JSON.stringify(task(integrity, JSON.parse(text) as Input)));
  return { inNode, inBrowser: JSON.parse(answer) as unknown };
}

describe('the integrity library in Chromium', () => {
  promiseTest('integrity/browser', 'every inclusion vector', async () => {
    const vectors = readInclusionVectors();
    const { inNode, inBrowser } = await inBoth(vectors, ({ isIncluded }, claims) => claims.map(isIncluded));
    expect(inBrowser).toEqual(inNode);
    expect(inBrowser).toEqual(vectors.map(({ accepted }) => accepted));
  });

  promiseTest('integrity/browser', 'every consistency vector', async () => {
    const vectors = readConsistencyVectors();
    const { inNode, inBrowser } = await inBoth(vectors, ({ isConsistent }, claims) => claims.map(isConsistent));
    expect(inBrowser).toEqual(inNode);
    expect(inBrowser).toEqual(vectors.map(({ accepted }) => accepted));
  });

  promiseTest('integrity/browser', 'every vector of canonical JSON', async () => {
    const vectors = readCanonicalVectors();
    const { inNode, inBrowser } = await inBoth(vectors, ({ canonicalize }, inputs) =>
      inputs.map(({ text }) => {
        try {
          return canonicalize(JSON.parse(text));
        } catch {
          return null;
        }
      }),
    );
    expect(inBrowser).toEqual(inNode);
    expect(inBrowser).toEqual(vectors.map(({ canonical }) => canonical));
  });

  promiseTest('integrity/browser', 'any text has the same hashes as in Node', async () => {
    const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 300 }), { seed: 6962, numRuns: 300 });
    const { inNode, inBrowser } = await inBoth([...texts, '', 'a'.repeat(100_000)], (integrity, inputs) =>
      inputs.map((text) => [
        integrity.sha256(text),
        integrity.leafHash(text),
        integrity.saltedDigest('answer', '0f'.repeat(16), text),
        integrity.nodeHash(integrity.sha256(text), integrity.EMPTY_ROOT),
      ]),
    );
    expect(inBrowser).toEqual(inNode);
  });

  promiseTest('integrity/browser', 'any value has the same canonical text as in Node', async () => {
    const values = fc.sample(plainJson(), { seed: 6962, numRuns: 300 });
    const { inNode, inBrowser } = await inBoth(values, ({ canonicalize }, inputs) => inputs.map(canonicalize));
    expect(inBrowser).toEqual(inNode);
  });

  promiseTest('integrity/browser', 'a growing tree has the same roots as in Node', async () => {
    const entries = Array.from({ length: 130 }, (_, index) => `{"n":${index}}`);
    const { inNode, inBrowser } = await inBoth(entries, ({ TreeBuilder, leafHash }, inputs) => {
      const tree = new TreeBuilder();
      return inputs.map((entry) => {
        tree.add(leafHash(entry));
        return tree.root();
      });
    });
    expect(inBrowser).toEqual(inNode);
  });

  promiseTest('integrity/browser', 'a COSE receipt and a DSSE envelope have the same claims as in Node', async () => {
    const proof = proveEntry(createEntries(7), 3);
    const receipt = Buffer.from(integrity.formatReceipt(proof, LOG_KEY.verifierKey, LOG_KEY.sign));
    const envelope = Buffer.from(integrity.formatDsse(proof, LOG_KEY.verifierKey, LOG_KEY.sign));
    const forged = Buffer.from(receipt);
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
    const input = {
      key: integrity.formatVerifierKey(LOG_KEY.verifierKey),
      files: [receipt, envelope, forged, receipt.subarray(1)].map((file) => [...file]),
    };
    const { inNode, inBrowser } = await inBoth(input, ({ parseVerifierKey, verifyBytes }, { key, files }) =>
      files.map((file) => {
        try {
          return verifyBytes(Uint8Array.from(file), { log: [parseVerifierKey(key)] }).claims;
        } catch (error) {
          return String(error);
        }
      }),
    );
    expect(inBrowser).toEqual(inNode);
    const claim = (holds: string) => expect.arrayContaining([expect.objectContaining({ about: 'envelope', holds })]);
    expect(inBrowser).toEqual([claim('yes'), claim('yes'), claim('no'), expect.stringContaining('not UTF-8')]);
  });

  promiseTest('integrity/browser', 'an entry is parsed as strictly as in Node', async () => {
    const entry = '{"actor":"a","at":"2026-11-15T10:00:00.000Z","kind":"genesis","v":1}';
    const texts = [entry, ` ${entry}`, entry.replace('"v":1', '"v":1.0'), entry.replace('"a"', '"\\u0061"'), '{}', ''];
    const { inNode, inBrowser } = await inBoth(texts, ({ parseEntry }, inputs) =>
      inputs.map((text) => parseEntry(text) !== undefined),
    );
    expect(inBrowser).toEqual([true, false, false, false, false, false]);
    expect(inNode).toEqual(inBrowser);
  });
});
