import { findRemembered } from '../checkpoints/remembered.ts';
import { listSignedLogs } from '../checkpoints/signed-locations.ts';
import { mayWriteLedger } from '../db/sqlite/files/may-write.ts';
import { readIdentity } from './ledger-identity.ts';
import type { Concern } from './list-concerns.ts';
import { withUntouchedLedger } from './untouched-ledger.ts';

/**
 * Whether a ledger that other users can read may be read without an acceptance: git does not track it, and it may only
 * be read, or it is the one that this user has signed here. Reading cannot change it.
 */
export async function mayRead(databasePath: string, concerns: readonly Concern[]): Promise<boolean> {
  if (concerns.some(({ isAcceptable, isTracked }) => !isAcceptable || isTracked === true)) return false;
  return !mayWriteLedger(databasePath) || (await wasSignedHere(databasePath));
}

/** The log must extend what was signed: another file at the same path is another ledger. */
async function wasSignedHere(databasePath: string): Promise<boolean> {
  for (const ledgerId of listSignedLogs(databasePath))
    try {
      const last = findRemembered(ledgerId)?.newest();
      if (last === undefined) continue;
      const found = await withUntouchedLedger(databasePath, (database) =>
        database.read((reader) => readIdentity(reader, last.size)),
      );
      if (found?.ledgerId === ledgerId && found.root === last.root) return true;
    } catch {
      // It is refused for the sign that it shows, and colibri trust reports what is wrong with it.
    }
  return false;
}
