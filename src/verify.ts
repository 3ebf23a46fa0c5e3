import type { Reader } from './db/database.ts';
import { checkTasks } from './domains/tasks/projection.ts';
import { type LedgerReport, verifyLedger } from './ledger/verify.ts';

/** The whole record: the log, its tree, and every table that was made from it. */
export function verifyEverything(reader: Reader): Promise<LedgerReport> {
  return verifyLedger(reader, [checkTasks]);
}
