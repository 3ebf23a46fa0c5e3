import { describe, expect } from 'vitest';
import { promiseTest } from '../../test/support/promise-test.ts';
import { CheckpointScheduler } from './scheduler.ts';
import type { Signer } from './signer.ts';

/** A scheduler with the size of its newest checkpoint, if it has one, and the number of its signatures. */
function createScheduler(size?: number) {
  let signed = 0;
  const sign = async () => {
    signed += 1;
    return `checkpoint ${signed}`;
  };
  const signer = { verifierKey: 'key', sign } as unknown as Signer;
  const scheduler = new CheckpointScheduler(
    { hasPlace: true, find: () => signer, open: () => signer },
    () => undefined,
    size === undefined ? undefined : { text: 'first', size },
  );
  return { scheduler, count: () => signed };
}

describe('a server that records without an end', () => {
  promiseTest('checkpoint/signed', 'after every 1,000 entries, and at the end for those after', async () => {
    const { scheduler, count } = createScheduler(11);
    for (let size = 12; size < 1011; size += 1) scheduler.grown(size, false);
    expect(await settled(count)).toBe(0);
    scheduler.grown(1011, false);
    expect(await settled(count)).toBe(1);
    for (let size = 1012; size <= 2500; size += 1) scheduler.grown(size, false);
    expect(await settled(count)).toBe(2);
    await scheduler.stop();
    expect(count()).toBe(3);
    await scheduler.stop();
    expect(count()).toBe(3);
  });
});

describe('a server on a log without a checkpoint', () => {
  promiseTest('checkpoint/signed', 'after the first change, and not again after the next ones', async () => {
    const { scheduler, count } = createScheduler();
    scheduler.signsFirstChange = true;
    scheduler.recorded(3);
    expect(await settled(count)).toBe(0);
    for (let size = 4; size < 1004; size += 1) scheduler.grown(size, false);
    expect(await settled(count)).toBe(1);
    scheduler.grown(1004, false);
    expect(await settled(count)).toBe(2);
  });
});

async function settled(count: () => number): Promise<number> {
  await new Promise((resolve) => setImmediate(resolve));
  return count();
}
