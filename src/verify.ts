import type { Reader } from './db/database.ts';
import { checkTasks } from './domains/tasks/projection.ts';
import { checkTrail } from './domains/trail/projection.ts';
import { type LedgerReport, verifyLedger } from './ledger/verify.ts';

/** The whole record: the log, its tree, and every table that was made from it. */
export function verifyEverything(
  reader: Reader,
  progress?: (done: number, total: number) => void,
): Promise<LedgerReport> {
  return verifyLedger(reader, [checkTasks, checkTrail], progress);
}
