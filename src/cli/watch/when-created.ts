import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { findAbove, LEDGER } from '../../db/locate.ts';
import { EmptyLedger } from '../../db/migrate.ts';
import { assertReadable, isMissing } from '../support/with-ledger.ts';

const POLL_MS = 500;
/** A server creates the file first and its tables a moment later. */
const MAX_CREATION_MS = 10_000;

/** Waits until a server or a person has created the ledger; undefined if the signal aborts before. */
export async function whenCreated(found: Config, signal: AbortSignal): Promise<Config | undefined> {
  const wasMissing = isMissing(found);
  for (let config = found; !signal.aborted; config = { ...found, projectDbPath: findAbove(LEDGER, LEDGER) }) {
    if (!isMissing(config)) return (await whenOpened(config, signal, wasMissing)) ? config : undefined;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

async function whenOpened(config: Config, signal: AbortSignal, isNew: boolean): Promise<boolean> {
  const startMs = performance.now();
  while (!signal.aborted) {
    try {
      await assertReadable(config);
      return true;
    } catch (error) {
      const isBeingCreated = isNew || error instanceof EmptyLedger;
      if (!isBeingCreated || performance.now() - startMs > MAX_CREATION_MS) throw error;
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}
