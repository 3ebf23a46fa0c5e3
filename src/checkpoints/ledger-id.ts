import { DatabaseError, type Reader } from '../db/database.ts';
import { isUuid, parseEntry } from '../integrity/index.ts';

/** The id in the first entry, which names the log in its checkpoints. */
export async function readLedgerId(reader: Reader): Promise<string> {
  const [first] = await reader.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = 0');
  const ledgerId = first && parseEntry(first.entry)?.['ledger_id'];
  // It becomes part of a path, and a forged ledger may hold anything.
  if (typeof ledgerId === 'string' && isUuid(ledgerId)) return ledgerId;
  throw new DatabaseError('corrupt', 'the first entry of the log has no valid ledger_id', {
    advice: 'run colibri verify',
  });
}
