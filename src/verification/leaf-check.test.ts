import { describe, expect, it } from 'vitest';
import { openTestLedger, recordCalls } from '../../test/support/ledger.ts';
import type { Reader } from '../db/database.ts';
import { readProvenTexts } from './fast/leaf-texts.ts';
import { hashHere } from './hashing.ts';
import { LeafCheck } from './leaf-check.ts';

/** The first entry, and 150 calls of two: eighteen full blocks, one full block of blocks, and thirteen entries more. */
const CALLS = 150;
const SIZE = 1 + 2 * CALLS;
const ALL = Array.from({ length: SIZE }, (_, index) => index);

/** What is wrong, and the index of an entry that it is wrong with. */
const DAMAGES: Readonly<Record<string, readonly [sql: string, index: number]>> = {
  'an entry': ["UPDATE ledger_entries SET entry = replace(entry, 'tester', 'mallet') WHERE idx = 20", 20],
  'a neighbor of an entry': ["UPDATE ledger_entries SET entry = replace(entry, 'tester', 'mallet') WHERE idx = 21", 20],
  'a missing entry': ['DELETE FROM ledger_entries WHERE idx = 21', 20],
  'a missing block': [
    'DELETE FROM ledger_entries WHERE idx >= 272 AND idx < 288; DELETE FROM ledger_nodes WHERE idx = 17',
    275,
  ],
  'a missing node': ['DELETE FROM ledger_nodes WHERE level = 4 AND idx = 17', 275],
  'a node in between': ['UPDATE ledger_nodes SET idx = idx + 0.5 WHERE level = 4 AND idx = 17', 275],
  'a node that is not a hash': ["UPDATE ledger_nodes SET hash = 'none' WHERE level = 4 AND idx = 17", 275],
  'a digit moved from one node to the next': [
    `UPDATE ledger_nodes
       SET hash = substr((SELECT hash FROM ledger_nodes WHERE level = 4 AND idx = 16), 64) || hash WHERE level = 4 AND idx = 17;
     UPDATE ledger_nodes SET hash = substr(hash, 1, 63) WHERE level = 4 AND idx = 16`,
    275,
  ],
  'a node above a node': ["UPDATE ledger_nodes SET hash = replace(hash, substr(hash, 1, 1), 'g') WHERE level = 8", 20],
  'a head that counts too many entries': ['UPDATE ledger_head SET size = 304', 299],
  'a head that counts too few entries': ['UPDATE ledger_head SET size = 290', 299],
};

describe('entries and the stored nodes above them', () => {
  it('match one by one and all at once, in any order', async () => {
    const database = await openTestLedger();
    await recordCalls(database, CALLS);
    await database.read(async (reader) => {
      const check = new LeafCheck(reader);
      for (const indexes of [ALL, ALL.toReversed(), [300, 3, 299], [17], []])
        expect(new Set((await readAll(reader, indexes))?.keys())).toEqual(new Set(indexes));
      for (const index of ALL) expect(await check.holds(index)).toBe(true);
      for (const index of [-1, SIZE, 0.5, Number.NaN]) {
        expect(await check.holds(index)).toBe(false);
        expect(await readAll(reader, [3, index])).toBeUndefined();
      }
    });
  });

  for (const [name, [sql, index]] of Object.entries(DAMAGES))
    it(`reports a mismatch with ${name}, one by one or all at once`, async () => {
      const database = await openTestLedger();
      await recordCalls(database, CALLS);
      await database.write({ durable: false }, (transaction) => transaction.run(sql));
      await database.read(async (reader) => {
        expect(await new LeafCheck(reader).holds(index)).toBe(false);
        expect(await readAll(reader, [index])).toBeUndefined();
        expect(await readAll(reader, ALL)).toBeUndefined();
      });
    });
});

function readAll(reader: Reader, indexes: readonly number[]) {
  return readProvenTexts(reader, new LeafCheck(reader), hashHere({ hashes: 0, size: 0 }), indexes);
}
