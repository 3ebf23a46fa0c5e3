import { describe, expect } from 'vitest';
import type { Reader } from '../../src/db/database.ts';
import { findSession } from '../../src/domains/trail/sessions.ts';
import { hashInWorker } from '../../src/verification/fast/hash-worker-client.ts';
import { type Hasher, type HashJob, hashHere } from '../../src/verification/hashing.ts';
import { type ChainReport, verifySession, verifyTaskChain } from '../../src/verification/verify-chain.ts';
import { verifyTables } from '../../src/verification/verify-ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openTwoPages } from '../support/sample-ledgers.ts';
import { afterTampering } from '../support/tamper.ts';

const database = await openTwoPages();

const inWorker = hashInWorker.bind(undefined, new URL('../../dist/hash-worker.js', import.meta.url));

/** Mostly forgeries that only a digest shows: the worker finds them after the page was passed. */
const FORGERIES: Readonly<Record<string, string>> = {
  'the first arguments': "UPDATE ledger_entries SET content = '{}' WHERE idx = (SELECT MIN(sequence_no) FROM calls)",
  'the last arguments': "UPDATE ledger_entries SET content = '{}' WHERE idx = (SELECT MAX(sequence_no) FROM calls)",
  'all arguments': "UPDATE ledger_entries SET content = content || ' '",
  'arguments that reach into the next call': "UPDATE ledger_entries SET content = content || char(30) || '{}'",
  'the salt of a call':
    'UPDATE ledger_entries SET salt = lower(hex(zeroblob(16))) WHERE salt IS NOT NULL AND idx % 100 IN (1, 2, 3)',
  'the first extras': 'UPDATE thoughts SET extras = \'{"branch":"x"}\' WHERE thought_no = 1',
  'the last extras':
    'UPDATE thoughts SET extras = \'{"branch":"x"}\' WHERE thought_no = (SELECT MAX(thought_no) FROM thoughts)',
  'the salts of two thoughts': `UPDATE thoughts SET salt = (SELECT salt FROM thoughts AS other
     WHERE other.thought_no = 3 - thoughts.thought_no) WHERE thought_no IN (1, 2)`,
  'an entry that no row repeats': `UPDATE ledger_entries SET entry = replace(entry, '"answer":"', '"answer":"0')
     WHERE idx = (SELECT MAX(exit_idx) FROM call_exits WHERE exit_idx % 16 < 8)`,
  'an entry in front of a thought': `UPDATE ledger_entries SET entry = replace(entry, '"v":1', '"v":2')
     WHERE idx = (SELECT MIN(idx) - 1 FROM thoughts)`,
  'an entry of the second page and a call of the first': `UPDATE ledger_entries SET content = '{}'
       WHERE idx = (SELECT MIN(sequence_no) FROM call_exits);
     UPDATE ledger_entries SET entry = entry || ' ' WHERE idx = 264`,
  'an entry of the second page and a node at the end of the first': `UPDATE ledger_nodes SET hash = hex(zeroblob(32))
       WHERE level = 8 AND idx = 0;
     UPDATE ledger_entries SET entry = entry || ' ' WHERE idx = 264`,
  'a node': 'UPDATE ledger_nodes SET hash = lower(hex(zeroblob(32))) WHERE level = 4 AND idx = 3',
  'a digit moved from one node to the next': `UPDATE ledger_nodes
       SET hash = substr((SELECT hash FROM ledger_nodes WHERE level = 4 AND idx = 2), 64) || hash WHERE level = 4 AND idx = 3;
     UPDATE ledger_nodes SET hash = substr(hash, 1, 63) WHERE level = 4 AND idx = 2`,
};

/** Every report that can involve the worker. */
async function verifyAll(reader: Reader, start: (job: HashJob) => Hasher) {
  let reached = 0;
  const progress = (done: number) => {
    expect(done).toBeGreaterThan(reached);
    reached = done;
  };
  const options = { withTrace: true, progress, start };
  const session = await findSession(reader, 'A-0001');
  if (session === undefined) throw new Error('there is no session');
  const plain = ({ total, defective, broken, trace }: ChainReport) => ({ total, defective, broken, trace });
  const ledger = await verifyTables(reader, progress, { start });
  reached = 0;
  const chain = plain(await verifyTaskChain(reader, 1, options));
  reached = 0;
  return { ledger, chain, records: plain(await verifySession(reader, session, options)) };
}

describe('hashing in a worker', () => {
  for (const [name, forgery] of Object.entries({ nothing: 'SELECT 1', ...FORGERIES }))
    promiseTest('verify/tampering', `reports the same as on the main thread for ${name}`, async () => {
      let count = 0;
      await afterTampering(database, async (transaction) => {
        await transaction.run(forgery);
        const found = await verifyAll(transaction, inWorker);
        expect(found).toEqual(await verifyAll(transaction, hashHere));
        count = found.ledger.problems.length;
        expect(found.ledger.problems[0]?.place).not.toBe('entry 264');
      });
      expect(count > 0).toBe(name !== 'nothing');
    });
});
