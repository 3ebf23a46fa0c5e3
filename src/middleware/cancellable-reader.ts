import { setImmediate } from 'node:timers/promises';
import { beforeEachStatement } from '../db/before-each-statement.ts';
import type { Reader } from '../db/database.ts';
import { ColibriError } from '../errors.ts';

/** How long a call may block the event loop between statements. */
const MAX_BLOCKED_MS = 10;

/**
 * Throws CANCELLED before the next statement of a cancelled call. SQLite runs synchronously, so this also yields to the
 * event loop between statements: otherwise the cancellation would not be received during a long check.
 */
export function cancellableReader(db: Reader, signal: AbortSignal, nowMs: () => number): Reader {
  let yieldedAt = nowMs();
  return beforeEachStatement(db, async () => {
    if (nowMs() - yieldedAt >= MAX_BLOCKED_MS) {
      await setImmediate();
      yieldedAt = nowMs();
    }
    assertNotCancelled(signal);
  });
}

export function assertNotCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new ColibriError('CANCELLED', 'the client cancelled the call; nothing was changed');
}
