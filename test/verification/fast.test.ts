import { describe, expect, it } from 'vitest';
import { findSession } from '../../src/domains/trail/sessions.ts';
import { verifySession, verifyTaskChain } from '../../src/verification/verify-chain.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sample } from '../support/properties.ts';
import { openTwoPages } from '../support/sample-ledgers.ts';
import { afterTampering } from '../support/tamper.ts';

const database = await openTwoPages();

const AT_PAGE_ENDS = [253, 254, 255, 256, 257, 258, 509, 510, 511, 512, 513, 514];

/** The first and the last of each kind, and those on both sides of a page's end. */
const SAMPLES = await database.read(async (reader) => {
  const ends = await reader.query<{ first: number; last: number }>(
    `SELECT MIN(idx) AS first, MAX(idx) AS last FROM ledger_entries
     WHERE entry ->> 'kind' IN ('action.enter', 'action.exit', 'thought', 'session.started', 'task.created')
     GROUP BY entry ->> 'kind'`,
  );
  return [...new Set([...ends.flatMap(({ first, last }) => [first, last]), ...AT_PAGE_ENDS])];
});

const ENTRIES = await database.read((reader) =>
  reader.query<{ idx: number; entry: string }>(
    `SELECT idx, entry FROM ledger_entries WHERE idx IN (${SAMPLES.join(', ')}) ORDER BY idx`,
  ),
);

/** Texts that say the same, or nearly the same, in another way. */
const OTHER_TEXTS: Readonly<Record<string, (text: string) => string>> = {
  'a number with a fraction': (text) => text.replace('"v":1', '"v":1.0'),
  'a number with an exponent': (text) => text.replace('"v":1', '"v":1e0'),
  'a number with a zero before it': (text) => text.replace(/":(\d)/, '":0$1'),
  'a number below zero': (text) => text.replace(/":(\d)/, '":-$1'),
  'a number as a string': (text) => text.replace(/":(\d+)/, '":"$1"'),
  'another number': (text) => text.replace(/":(\d+),/, '":$19,'),
  'a member more at the end': (text) => text.replace(/\}$/, ',"w":1}'),
  'a member more at the beginning': (text) => text.replace(/^\{/, '{"aaa":1,'),
  'a member twice': (text) => text.replace(/\}$/, ',"v":1}'),
  'a member less': (text) => text.replace(/"at":"[^"]*",/, ''),
  'two members exchanged': (text) => text.replace(/("actor":"(?:[^"\\]|\\.)*"),(.*),("v":1)/, '$3,$2,$1'),
  'a space': (text) => text.replace('":', '": '),
  'a space at the end': (text) => `${text} `,
  'a line feed at the beginning': (text) => `\n${text}`,
  'an escape that is not needed': (text) => text.replace('tester', 't\\u0065ster'),
  'an escape in a digest': (text) => text.replace(/"([0-9a-f])([0-9a-f]{63})"/, '"\\u003$1$2"'),
  'capitals in a digest': (text) => text.replace(/[0-9a-f]{64}/, (digest) => digest.toUpperCase()),
  'a longer digest': (text) => text.replace(/([0-9a-f]{64})/, '$10'),
  'another digest': (text) => text.replace(/[0-9a-f]{64}/, (digest) => digest.slice(32) + digest.slice(0, 32)),
  'another kind': (text) => text.replace(/"kind":"[^"]*"/, '"kind":"action.pause"'),
  'a kind of the same table': (text) =>
    text.replace(/"kind":"action\.(enter|exit)"/, (_, kind) => `"kind":"action.${kind === 'exit' ? 'enter' : 'exit'}"`),
  'an interruption': (text) => text.replace('action.exit', 'action.interrupted'),
  nothing: () => '',
  'an array': (text) => `[${text}]`,
  'the separator': (text) => text.replace('tester', 'tes\u007fter'),
  'the separator at the end': (text) => `${text}\u007f`,
};

/** The sampled entries that the forgery changes. */
function forgeAll(forge: (text: string) => string): { index: number; forged: string }[] {
  return ENTRIES.map(({ idx, entry }) => ({ index: idx, entry, forged: forge(entry) })).filter(
    ({ entry, forged }) => forged !== entry,
  );
}

describe('the fast path', () => {
  it('proves every page of an honest ledger, and all entries that calls and thoughts account for', async () => {
    await database.read(async (reader) => {
      const [rest] = await reader.query<{ entries: number }>(
        `SELECT COUNT(*) AS entries FROM ledger_entries
         WHERE entry NOT LIKE '%"kind":"action.e%' AND entry NOT LIKE '%"kind":"thought"%'`,
      );
      const { size, problems, fast } = await verifyEverything(reader);
      expect(problems).toEqual([]);
      expect(size).toBeGreaterThan(512);
      expect(fast).toEqual({ pages: Math.ceil(size / 256), entries: size - (rest?.entries ?? 0) });
    });
  });

  it('proves every record of an honest chain and every thought of an honest session', async () => {
    await database.read(async (reader) => {
      const options = { withTrace: false, progress: () => undefined };
      expect(await verifyTaskChain(reader, 1, options)).toMatchObject({ total: 180, proven: 180, defective: 0 });
      const session = await findSession(reader, 'A-0001');
      if (session === undefined) throw new Error('there is no session');
      expect(await verifySession(reader, session, options)).toMatchObject({ total: 184, proven: 180, defective: 0 });
    });
  });

  it('does not run the fast path in the reference', async () => {
    await database.read(async (reader) => {
      const { problems, fast } = await verifyEverything(reader, undefined, { useFastPath: false });
      expect({ problems, fast }).toEqual({ problems: [], fast: { pages: 0, entries: 0 } });
      const options = { withTrace: false, progress: () => undefined, useFastPath: false };
      expect(await verifyTaskChain(reader, 1, options)).toMatchObject({ total: 180, proven: 0, defective: 0 });
    });
  });

  for (const [turn, [name, forge]] of Object.entries(OTHER_TEXTS).entries()) {
    promiseTest('verify/tampering', `reports the same as the reference for ${name} in an entry`, async () => {
      let tried = 0;
      for (const { index, forged } of sample(forgeAll(forge), 4, turn)) {
        tried += 1;
        const problems = await afterTampering(
          database,
          async (transaction) => {
            await transaction.query('UPDATE ledger_entries SET entry = $1 WHERE idx = $2', [forged, index]);
          },
          { alsoTrail: false },
        );
        expect(problems).not.toEqual([]);
      }
      expect(tried).toBeGreaterThan(0);
    });
  }
});

describe('an entry that replaces another', () => {
  for (const [turn, from] of SAMPLES.entries())
    promiseTest('verify/tampering', `reports the same as the reference for a copy of entry ${from}`, async () => {
      for (const to of sample(
        SAMPLES.filter((index) => index !== from),
        4,
        turn,
      )) {
        const problems = await afterTampering(
          database,
          async (transaction) => {
            await transaction.query(
              'UPDATE ledger_entries SET entry = (SELECT entry FROM ledger_entries WHERE idx = $1) WHERE idx = $2',
              [from, to],
            );
          },
          { alsoTrail: false },
        );
        expect(problems).not.toEqual([]);
      }
    });
});
