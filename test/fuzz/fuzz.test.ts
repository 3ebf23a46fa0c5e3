import { describe, expect } from 'vitest';
import { canonicalize, NotCanonical, parseBundle, parseVerifierKey, verifyBundle } from '../../src/integrity/index.ts';
import { promiseTest } from '../support/promise-test.ts';
import { fuzz, sampleInputs, TARGETS } from './fuzz.ts';
import { VALUES } from './hostile-values.ts';
import { signLog, WITH_CONTENT } from './sample-log.ts';
import { unlessThrows } from './target.ts';

describe('parsers of what others have written', () => {
  promiseTest('fuzz/parsers', 'a short run of npm run fuzz', async () => {
    const results = await fuzz({ seed: 6962, runs: 1000 });
    expect(results.flatMap(({ problem }) => problem ?? [])).toEqual([]);
    expect(results.map(({ name }) => name)).toEqual(TARGETS.map(({ name }) => name));
  });

  promiseTest('fuzz/parsers', 'the same seed tries the same inputs, and another one others', () => {
    const [target = TARGETS[0]] = TARGETS;
    const inputs = (seed: number) => target && sampleInputs(target, seed, 20);
    expect(inputs(1)).toEqual(inputs(1));
    expect(inputs(2)).not.toEqual(inputs(1));
  });

  promiseTest('fuzz/parsers', 'a broken promise is reported with the input and how to replay it', async () => {
    const broken = {
      name: 'broken',
      samples: ['whole'],
      check: (input: string) => (input.includes('e') ? true : fail()),
    };
    const fail = () => {
      throw new TypeError('no e');
    };
    const [result] = await fuzz({ seed: 7, runs: 100, targets: [broken] });
    expect(result?.problem).toMatch(
      /TypeError: no e.*input: "[^e]*"\n {2}replay: npm run fuzz -- --seed 7 --runs 100 --only broken$/s,
    );
  });

  promiseTest(
    'bundle/forged',
    'any value as the content that a key has signed fails as content, and not as an error',
    () => {
      for (const { index, record } of WITH_CONTENT)
        for (const value of VALUES) {
          const text = unlessThrows(NotCanonical, () => canonicalize(value));
          if (text === undefined || record.content === undefined) continue;
          const signed = signLog({ index, record: { ...record, content: { ...record.content, text } } });
          const { claims } = verifyBundle(parseBundle(signed.bundle([index])), { log: [parseVerifierKey(signed.key)] });
          const { holds } = claims.find(({ about }) => about === 'content') ?? {};
          const isAnyObject = record.content.label === 'arguments' || text === '{}';
          if (!isAnyObject) expect(holds, `${record.kind} ${text.slice(0, 50)}`).toBe('no');
        }
    },
  );
});
