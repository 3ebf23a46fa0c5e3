import { expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { UNFINISHED_VERSION } from '../../src/db/migrate.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { BLOCK } from '../../src/ledger/stored-tree.ts';
import { AT, enterEvent, expectWhole, processIdOf } from '../support/ledger.ts';
import { describeContract } from './engines.ts';

describeContract('entering a call', (engine) => {
  it('commits the same entries with and without the shortcut of the engine', async () => {
    const database = await engine.open(await engine.newLocation());
    await openLedger(database, 'tester', AT);
    const indexes = collectWork(database);
    const recorder = new CallRecorder(database, processIdOf('here'));
    for (let call = 1; call <= BLOCK; call += 1) await recorder.enter(enterEvent(`call ${call}`));
    expect((await expectWhole(database)).size).toBe(1 + BLOCK);
    const everyCall = Array.from({ length: BLOCK }, (_, call) => call + 1);
    expect(indexes).toEqual(engine.name === 'sqlite' ? everyCall : [BLOCK - 1]);
  });

  it('refuses a call on an unfinished copy', async () => {
    const database = await engine.open(await engine.newLocation());
    await openLedger(database, 'tester', AT);
    await database.write({ durable: false }, (transaction) => transaction.setSchemaVersion(UNFINISHED_VERSION));
    const recorder = new CallRecorder(database, processIdOf('here'));
    await expect(recorder.enter(enterEvent('early'))).rejects.toThrow(/not finished/);
    await expect(database.write({ durable: false }, async () => undefined)).rejects.toThrow(/not finished/);
  });
});

/** Collects the indexes that the caller's `work` appended, because the engine took no shortcut. */
function collectWork(database: Database): number[] {
  const indexes: number[] = [];
  const enterCall = database.enterCall.bind(database);
  database.enterCall = (call, work) =>
    enterCall(call, async (transaction) => {
      const index = await work(transaction);
      indexes.push(index);
      return index;
    });
  return indexes;
}
