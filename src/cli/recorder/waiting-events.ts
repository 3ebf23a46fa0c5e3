import { type Config, locateDatabase } from '../../config.ts';
import { printError } from '../../print-error.ts';
import { countWaiting, hasSpool, spoolOf } from '../../recorder/spool.ts';
import { plural } from '../views/terminal.ts';

/** A running server needs less. */
const PATIENCE_MS = 10_000;

/** Commands that show the ledger do not write to it: they report that clients reported more than they show. */
export function printWaiting(config: Config, patienceMs = PATIENCE_MS): void {
  const spool = spoolOf(locateDatabase(config));
  try {
    const waiting = hasSpool(spool) ? countWaiting(spool, Date.now() - patienceMs) : 0;
    if (waiting > 0)
      printError(
        `${plural(waiting, 'reported event')} not in the ledger yet; the next server or command that writes adds them.`,
      );
  } catch {
    // `colibri doctor` reports an unusable spool.
  }
}
