import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { expectWholeLog, noteEntry, openTestLedger } from '../../test/support/ledger.ts';
import { promiseTest } from '../../test/support/promise-test.ts';
import type { Database, Reader, Transaction } from '../db/database.ts';
import { type Digest, isConsistent, isIncluded, leafHash, TreeBuilder } from '../integrity/index.ts';
import { append } from './append.ts';
import { readHead } from './head.ts';
import { BLOCK, StoredTree } from './stored-tree.ts';

const MAX_SIZE = 600;
const SEED = 20260102;

describe('the stored tree', () => {
  promiseTest('ledger/root', `after every batch up to ${MAX_SIZE} entries`, async () => {
    const database = await openTestLedger();
    for (const size of batchedSizes()) {
      await growTo(database, size);
      const { size: stored, root } = await database.read(readHead);
      expect([stored, root]).toEqual([size, plainRoot(await leaves(database), size)]);
      await expectWholeLog(database);
    }
  });

  promiseTest('ledger/proofs', 'the inclusion of every entry in trees of awkward sizes', async () => {
    const database = await openTestLedger();
    for (const size of [1, 2, 15, 16, 17, 31, 255, 256, 257, 300]) {
      await growTo(database, size);
      const all = await leaves(database);
      await database.read(async (reader) => {
        const tree = new StoredTree(reader, size);
        const root = await tree.root();
        for (const [index, leaf] of all.entries()) {
          const proof = await tree.inclusionProof(index);
          expect([size, index, isIncluded({ leaf, index, size, proof, root })]).toEqual([size, index, true]);
        }
      });
    }
    await expectWholeLog(database);
  });

  promiseTest('ledger/proofs', 'of any past size of a grown log, for entries and between sizes', async () => {
    const database = await openTestLedger();
    await growTo(database, MAX_SIZE);
    const all = await leaves(database);
    const sizes = fc.tuple(fc.integer({ min: 1, max: MAX_SIZE }), fc.integer({ min: 1, max: MAX_SIZE }));
    await database.read((reader) =>
      fc.assert(
        fc.asyncProperty(sizes, async (pair) => {
          const [oldSize, size] = [Math.min(...pair), Math.max(...pair)];
          const [oldRoot, root] = [plainRoot(all, oldSize), plainRoot(all, size)];
          const tree = new StoredTree(reader, size);
          expect(await tree.root()).toBe(root);
          const consistency = await tree.consistencyProof(oldSize);
          expect(isConsistent({ oldSize, oldRoot, size, root, proof: consistency })).toBe(true);
          const index = oldSize - 1;
          const proof = await tree.inclusionProof(index);
          expect(isIncluded({ leaf: all[index] ?? '', index, size, proof, root })).toBe(true);
        }),
        { seed: SEED, numRuns: 150 },
      ),
    );
    await expectWholeLog(database);
  });

  promiseTest('ledger/cheap-append', 'one row, and one more for each subtree that it completes', async () => {
    const database = await openTestLedger();
    for (let size = 2; size <= MAX_SIZE; size += 1) {
      const before = await countRows(database);
      const statements = await database.write({ durable: false }, async (transaction) => {
        const counted = counting(transaction);
        await append(counted.transaction, noteEntry(size - 1));
        return counted.count();
      });
      const completed = [BLOCK, BLOCK ** 2].filter((width) => size % width === 0).length;
      expect([size, (await countRows(database)) - before]).toEqual([size, 1 + completed]);
      expect([size, statements]).toEqual([size, 3 + 2 * completed]);
    }
    await expectWholeLog(database);
  });
});

function batchedSizes(): number[] {
  let size = 1;
  const batches = fc.sample(fc.integer({ min: 1, max: 60 }), { seed: SEED, numRuns: 60 });
  return [1, ...batches.map((batch) => (size += batch))].filter((grown) => grown <= MAX_SIZE);
}

async function growTo(database: Database, size: number): Promise<void> {
  await database.write({ durable: false }, async (transaction) => {
    let index = (await readHead(transaction)).size - 1;
    while (index < size - 1) index = await append(transaction, noteEntry(index + 1, '🐦'));
  });
}

function leaves(database: Database): Promise<Digest[]> {
  return database.read(async (reader: Reader) => {
    const rows = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries ORDER BY idx');
    return rows.map(({ entry }) => leafHash(entry));
  });
}

function plainRoot(all: readonly Digest[], size: number): Digest {
  const tree = new TreeBuilder();
  for (const leaf of all.slice(0, size)) tree.add(leaf);
  return tree.root();
}

async function countRows(database: Database): Promise<number> {
  const [row] = await database.read((reader) =>
    reader.query<{ n: number }>(
      `SELECT (SELECT COUNT(*) FROM ledger_entries) + (SELECT COUNT(*) FROM ledger_nodes)
            + (SELECT COUNT(*) FROM ledger_head) + (SELECT COUNT(*) FROM call_exits) AS n`,
    ),
  );
  return row?.n ?? Number.NaN;
}

function counting(transaction: Transaction): { transaction: Transaction; count: () => number } {
  let statements = 0;
  const query: Transaction['query'] = (sql, parameters) => {
    statements += 1;
    return transaction.query(sql, parameters);
  };
  const send: Transaction['send'] = (sql, parameters) => {
    statements += 1;
    transaction.send(sql, parameters);
  };
  const sendAtCommit: Transaction['sendAtCommit'] = (sql, parameters) => {
    statements += 1;
    transaction.sendAtCommit(sql, parameters);
  };
  return { transaction: { ...transaction, query, send, sendAtCommit }, count: () => statements };
}
