import { describe, expect, vi } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { DatabaseError, type DatabaseFault, type Reader } from '../../db/database.ts';
import { watchLedger } from './watch.ts';

type Look = number | DatabaseFault;

/** Watches a ledger that has these sizes, or faults, one for each look at it. Returns when the work ran. */
async function watch(looks: readonly Look[], work: (look: number) => void = () => undefined): Promise<number[]> {
  const abort = new AbortController();
  const ran: number[] = [];
  let look = -1;
  const read = async <Result>(use: (reader: Reader) => Promise<Result>): Promise<Result> => {
    look += 1;
    const state = looks[look] ?? 0;
    if (typeof state === 'string') throw new DatabaseError(state, `it is ${state}`);
    return use({ query: async () => [{ size: state }] } as unknown as Reader);
  };
  const next = async () => {
    if (look + 1 >= looks.length) abort.abort();
  };
  const ledger = { engine: 'sqlite', location: '', read } as const;
  const run = async () => {
    work(look);
    ran.push(look);
  };
  await watchLedger(ledger, abort.signal, run, { open: () => ({ next, close: () => undefined }), pauseMs: 0 });
  return ran;
}

describe('an export that watches the ledger', () => {
  promiseTest('notes/watch', 'works only when the log has another size', async () => {
    expect(await watch([7, 7, 7, 8, 8, 5, 5])).toEqual([0, 3, 5]);
  });

  promiseTest('notes/watch', 'tries again while the ledger is locked, and says so once', async () => {
    const errors = vi.spyOn(console, 'error').mockReturnValue();
    try {
      expect(await watch([7, 'busy', 'busy', 'unavailable', 8, 'lost', 8])).toEqual([0, 4]);
      const said = errors.mock.calls.map(([text]) => String(text));
      expect(said).toEqual(
        ['busy', 'unavailable', 'lost'].map((fault) => `colibri export: it is ${fault}; trying again`),
      );
    } finally {
      errors.mockRestore();
    }
  });

  promiseTest('notes/watch', 'tries again after a lock in the middle of the work', async () => {
    const errors = vi.spyOn(console, 'error').mockReturnValue();
    try {
      const fail = (look: number) => {
        if (look === 1) throw new DatabaseError('busy', 'it is busy');
      };
      expect(await watch([7, 8, 8, 8], fail)).toEqual([0, 2]);
    } finally {
      errors.mockRestore();
    }
  });

  promiseTest('notes/watch', 'ends with the error if a retry cannot help', async () => {
    await expect(watch([7, 'corrupt', 7])).rejects.toThrow('it is corrupt');
    const fail = () => {
      throw new Error('no space left on device');
    };
    await expect(watch([7], fail)).rejects.toThrow('no space left');
  });
});
