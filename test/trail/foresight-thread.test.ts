import { describe, expect } from 'vitest';
import { checkTasks } from '../../src/domains/tasks/projection.ts';
import { checkTrail } from '../../src/domains/trail/projection.ts';
import { hashHere, hashInThread } from '../../src/ledger/hasher.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { keeps } from '../support/keeps.ts';
import { afterTampering } from '../support/trail-tamper.ts';
import { openTwoPages } from '../support/two-pages.ts';

const database = await openTwoPages();

const hashThere = hashInThread.bind(undefined, new URL('../../dist/hash-thread.js', import.meta.url));

/** Contents of which only their digests tell that they are others: a thread finds it out when their page is gone by. */
const FORGERIES: Readonly<Record<string, string>> = {
  'the first arguments': "UPDATE calls SET arguments = '{}' WHERE sequence_no = (SELECT MIN(sequence_no) FROM calls)",
  'the last arguments': "UPDATE calls SET arguments = '{}' WHERE sequence_no = (SELECT MAX(sequence_no) FROM calls)",
  'all arguments': "UPDATE calls SET arguments = arguments || ' '",
  'arguments that reach into the next call': "UPDATE calls SET arguments = arguments || char(30) || '{}'",
  'the salt of a call': 'UPDATE calls SET salt = lower(hex(zeroblob(16))) WHERE sequence_no % 100 = 1',
  'the first extras': 'UPDATE thoughts SET extras = \'{"branch":"x"}\' WHERE thought_no = 1',
  'the last extras':
    'UPDATE thoughts SET extras = \'{"branch":"x"}\' WHERE thought_no = (SELECT MAX(thought_no) FROM thoughts)',
  'the salts of two thoughts': `UPDATE thoughts SET salt = (SELECT salt FROM thoughts AS other
     WHERE other.thought_no = 3 - thoughts.thought_no) WHERE thought_no IN (1, 2)`,
};

describe('hashing in a thread', () => {
  for (const [name, update] of Object.entries({ nothing: 'SELECT 1', ...FORGERIES }))
    keeps('verify/tampering', `as hashing at once does, ${name}`, async () => {
      let found = 0;
      await afterTampering(database, async (transaction) => {
        await transaction.run(update);
        const verify = (start: typeof hashThere) =>
          verifyLedger(transaction, [checkTasks, checkTrail], undefined, start);
        const there = await verify(hashThere);
        expect(there).toEqual(await verify(hashHere));
        found = there.problems.length;
      });
      expect(found > 0).toBe(name !== 'nothing');
    });
});
