import type { Reader } from '../../db/database.ts';
import { readSize } from '../../ledger/head.ts';
import type { ReadableLedger } from '../support/with-ledger.ts';
import { openLedgerChanges } from './ledger-changes.ts';

export interface Search<Found> {
  readonly find: (reader: Reader) => Promise<Found | undefined>;
  /** Whether time alone can change the result. Otherwise `find` runs only if the log has another size than before. */
  readonly dependsOnTime: boolean;
}

type WatchedLedger = Pick<ReadableLedger, 'engine' | 'location' | 'read'>;

/** Waits until `find` finds something, or until the signal aborts and a last look finds nothing. */
export async function whenFound<Found>(
  ledger: WatchedLedger,
  signal: AbortSignal,
  search: Search<Found>,
  open: typeof openLedgerChanges = openLedgerChanges,
): Promise<Found | undefined> {
  const changes = open(ledger, signal, { isTimer: search.dependsOnTime });
  let seen: number | undefined;
  try {
    for (;;) {
      const isLast = signal.aborted;
      const found = await ledger.read(async (reader) => {
        const size = await readSize(reader);
        if (size === seen && !search.dependsOnTime) return undefined;
        seen = size;
        return search.find(reader);
      });
      if (found !== undefined || isLast) return found;
      await changes.next();
    }
  } finally {
    changes.close();
  }
}
