import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tempFolder } from '../../../test/support/folders.ts';
import { openTestDatabase } from '../../../test/support/ledger.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { type CheckpointResult, WalCheckpoints } from './wal-checkpoints.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

function watch(answer: () => Promise<CheckpointResult>) {
  const modes: string[] = [];
  const checkpoints = new WalCheckpoints((mode) => {
    modes.push(mode);
    return answer();
  });
  const commit = async (times: number) => {
    for (let commits = 0; commits < times; commits += 1) checkpoints.committed();
    await turn();
    await turn();
  };
  return { modes, commit };
}

describe('the write-ahead log', () => {
  promiseTest('store/durable', 'is copied once for many commits, after the last of them', async () => {
    const { modes, commit } = watch(async () => ({ pages: 900 }));
    await commit(119);
    expect(modes).toEqual([]);
    await commit(1);
    expect(modes).toEqual(['PASSIVE']);
    await commit(120);
    expect(modes).toEqual(['PASSIVE', 'PASSIVE']);
  });

  promiseTest('store/durable', 'makes others wait only when it is long', async () => {
    const { modes, commit } = watch(async () => ({ pages: 2001 }));
    await commit(120);
    expect(modes).toEqual(['PASSIVE', 'RESTART']);
  });

  promiseTest('store/durable', 'fails no commit if it cannot be copied', async () => {
    const { modes, commit } = watch(() => Promise.reject(new Error('disk I/O error')));
    await commit(240);
    expect(modes).toEqual(['PASSIVE', 'PASSIVE']);
  });

  promiseTest('store/durable', 'is copied between two calls, not by a commit, and stays short', async () => {
    const path = join(tempFolder(), 'colibri.db');
    const database = await openTestDatabase({ path });
    const insert = () =>
      database.write({ durable: false }, (transaction) => transaction.query('INSERT INTO t VALUES (zeroblob(20000))'));
    await database.write({ durable: false }, (transaction) => transaction.run('CREATE TABLE t (value BLOB)'));
    const { size } = statSync(path);
    // No turn of the event loop in between.
    for (let commits = 0; commits < 300; commits += 1) await insert();
    expect(statSync(path).size).toBe(size);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(1500 * 4096);
    await turn();
    expect(statSync(path).size).toBeGreaterThan(size);
    for (let commits = 0; commits < 1500; commits += 1) {
      await insert();
      await turn();
    }
    expect(statSync(`${path}-wal`).size).toBeLessThan(3000 * 4096);
  });
});
