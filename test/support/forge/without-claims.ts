import type { Database } from '../../../src/db/database.ts';
import { canonicalize } from '../../../src/integrity/index.ts';
import type { Loose } from './event.ts';
import { readEvents, writeLedger } from './ledger.ts';

/** Rewrites a ledger as a server wrote it that knew no holders. */
export async function removeClaims(database: Database): Promise<void> {
  await database.write({ durable: false }, async (transaction) => {
    const events = (await readEvents(transaction)).filter(({ fields }) => fields['kind'] !== 'project.options');
    for (const event of events)
      if (String(event.fields['kind']).startsWith('task.')) {
        const { holder: _holder, taken_from: _former, ...content } = JSON.parse(event.content) as Loose;
        event.content = canonicalize(content);
      }
    await writeLedger(transaction, events);
  });
}
