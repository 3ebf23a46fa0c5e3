import { setImmediate } from 'node:timers/promises';
import { beforeEachStatement } from '../db/before-each-statement.ts';
import type { Reader } from '../db/database.ts';
import { ColibriError } from '../errors.ts';

/** How long a call may keep the event loop from reading messages, one statement excepted. */
const MAX_DEAF_MS = 10;

/**
 * Ends a cancelled call before its next statement. SQLite answers at once, so a long check of it would never hear of
 * the cancellation; this lets messages in between two statements.
 */
export function cancellableReader(db: Reader, signal: AbortSignal, nowMs: () => number): Reader {
  let heardAt = nowMs();
  return beforeEachStatement(db, async () => {
    if (nowMs() - heardAt >= MAX_DEAF_MS) {
      await setImmediate();
      heardAt = nowMs();
    }
    assertNotCancelled(signal);
  });
}

export function assertNotCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new ColibriError('CANCELLED', 'the client cancelled the call; nothing was changed');
}
