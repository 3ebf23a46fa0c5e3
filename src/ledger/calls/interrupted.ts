import type { Database, Transaction } from '../../db/database.ts';
import type { Salt } from '../../integrity/index.ts';
import { interruptCall } from './exit.ts';

const OPEN_CALLS = 'SELECT sequence_no, process_id FROM calls WHERE exit_idx IS NULL ORDER BY sequence_no';

/** Closes the calls of dead processes and returns their number. Calls of live processes stay open. */
export async function closeInterruptedCalls(database: Database, actor: string, at: string): Promise<number> {
  const seen = await database.read((reader) => reader.query(OPEN_CALLS));
  if (seen.length === 0) return 0;
  return database.write({ durable: true }, async (transaction) => {
    let closed = 0;
    for (const call of await transaction.query<{ sequence_no: number; process_id: string }>(OPEN_CALLS)) {
      if (await database.isAlive(call.process_id)) continue;
      await interruptCall(transaction, call.sequence_no, { actor, at });
      closed += 1;
    }
    return closed;
  });
}

/** A process runs one call at a time, so any other open call of it was entered by a lost attempt and never exits. */
export async function closeDuplicateEnters(
  transaction: Transaction,
  enter: { readonly processId: string; readonly salt: Salt; readonly actor: string; readonly at: string },
): Promise<void> {
  const duplicates = await transaction.query<{ sequence_no: number }>(
    'SELECT sequence_no FROM calls WHERE exit_idx IS NULL AND process_id = $1 AND salt <> $2 ORDER BY sequence_no',
    [enter.processId, enter.salt],
  );
  for (const { sequence_no } of duplicates) await interruptCall(transaction, sequence_no, enter);
}
