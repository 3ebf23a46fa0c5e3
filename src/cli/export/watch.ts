import { setTimeout } from 'node:timers/promises';
import { DatabaseError } from '../../db/database.ts';
import { readSize } from '../../ledger/head.ts';
import { printError } from '../../print-error.ts';
import type { ReadableLedger } from '../support/with-ledger.ts';
import { openLedgerChanges } from '../watch/ledger-changes.ts';

/** Agents change a ledger many times a second; editors should not have to reload notes as often. */
const PAUSE_MS = 1000;
/** In a large ledger the notes of a busy day take longer: at most a tenth of the time is spent on them. */
const PAUSE_FACTOR = 9;

type WatchedLedger = Pick<ReadableLedger, 'engine' | 'location' | 'read'>;

interface WatchOptions {
  readonly open?: typeof openLedgerChanges;
  readonly pauseMs?: number;
}

/**
 * Runs the work whenever the log has grown, until the signal. A ledger that is locked or unreachable is tried again.
 */
export async function watchLedger(
  ledger: WatchedLedger,
  signal: AbortSignal,
  work: () => Promise<void>,
  { open = openLedgerChanges, pauseMs = PAUSE_MS }: WatchOptions = {},
): Promise<void> {
  const changes = open(ledger, signal);
  let seen: number | undefined;
  let problem: string | undefined;
  let tookMs = 0;
  try {
    while (!signal.aborted) {
      try {
        const size = await ledger.read(readSize);
        const begun = performance.now();
        if (size !== seen) await work();
        tookMs = performance.now() - begun;
        seen = size;
        problem = undefined;
      } catch (error) {
        if (!(error instanceof DatabaseError) || !PASSING.has(error.fault)) throw error;
        if (error.message !== problem) printError(`colibri export: ${error.message}; trying again`);
        problem = error.message;
      }
      await pause(Math.max(pauseMs, tookMs * PAUSE_FACTOR), signal);
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

/** Faults that can clear without a restart. */
const PASSING: ReadonlySet<DatabaseError['fault']> = new Set(['busy', 'unavailable', 'lost']);

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch {
    // Aborted.
  }
}
