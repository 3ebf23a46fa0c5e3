import { it } from 'vitest';
import { PROMISES, type PromiseId } from '../promises.ts';

/** A test that keeps a promise. The detail tells apart several tests of one promise. */
export function promiseTest(promise: PromiseId, detail: string, test: () => Promise<void> | void): void {
  it(`${PROMISES[promise].says}: ${detail}`, test);
}
