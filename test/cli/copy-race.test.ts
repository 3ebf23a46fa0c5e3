import { describe, expect } from 'vitest';
import { synchronize } from '../../src/copy/synchronize.ts';
import { markFinished, markUnfinished, readTarget } from '../../src/copy/target.ts';
import { openTarget, readEverything, sqliteTarget, TARGETS } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { createLargeLedger } from '../support/sample-ledgers.ts';

const noProgress = () => undefined;
const noCheck = () => Promise.resolve();

describe('a copy that another copy overtakes', () => {
  for (const engine of ['sqlite', 'postgres'] as const)
    promiseTest('copy/under-fire', `stops at each of its steps, on ${engine}`, async () => {
      const [here, there] = [sqliteTarget(), await TARGETS[engine]()];
      await createLargeLedger(here.to, 20);
      const [source, target] = [await openTarget(here), await openTarget(there, { acceptsUnfinished: true })];
      const found = await readTarget(target);
      await markUnfinished(target, found);
      await expect(markUnfinished(target, found)).rejects.toThrow('another program writes to');
      const { size } = await synchronize(source, target, found.size, noProgress);
      await expect(synchronize(source, target, found.size, noProgress)).rejects.toThrow('another program writes to');
      await expect(markFinished(target, size - 1, noCheck)).rejects.toThrow('another program writes to');
      await markFinished(target, size, noCheck);
      await expect(markFinished(target, size, noCheck)).rejects.toThrow('another program writes to');
      await expect(synchronize(source, target, size, noProgress)).rejects.toThrow('another program writes to');
      expect(await readEverything(there)).toEqual(await readEverything(here));
    });
});
