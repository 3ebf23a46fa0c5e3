import type { Database } from '../../../src/db/database.ts';
import { canonicalize } from '../../../src/integrity/index.ts';
import type { Loose } from './event.ts';
import { readEvents, writeLedger } from './ledger.ts';

/** Rewrites a ledger as a server wrote it that knew no holders. */
export async function removeClaims(database: Database): Promise<void> {
  await database.write({ durable: false }, async (transaction) => {
    const events = (await readEvents(transaction)).filter(({ fields }) => !isNewer(String(fields['kind'])));
    for (const event of events)
      if (String(event.fields['kind']).startsWith('task.')) {
        const { holder: _holder, taken_from: _former, ...content } = JSON.parse(event.content) as Loose;
        event.content = canonicalize(content);
      }
    await writeLedger(transaction, events);
  });
}

/** Kinds that a server which knew no holders did not write. */
function isNewer(kind: string): boolean {
  return ['project.options', 'key.added', 'redaction'].includes(kind) || kind.startsWith('observed');
}
