import { readEntries } from '../../src/cli/proofs/read-entries.ts';
import { selectEntries } from '../../src/cli/proofs/select-entries.ts';
import { open } from '../../src/integrity/bundle/verify.ts';
import type { BundledLog } from '../../src/integrity/evidence/in-bundle.ts';
import type { BundledEntry, BundleScope } from '../../src/integrity/index.ts';
import type { TestServer } from '../support/test-server.ts';

/** The entries that an export of a scope has. */
export async function bundledLog(server: TestServer, scope: BundleScope = { kind: 'ledger' }): Promise<BundledLog> {
  const [{ size } = { size: 0 }] = await server.query<{ size: number }>('SELECT COUNT(*) AS size FROM ledger_entries');
  const entries: BundledEntry[] = [];
  await server.database.read(async (db) => {
    const indexes = await selectEntries(db, scope, size);
    for await (const page of readEntries(db, { indexes, size, redact: false })) entries.push(...page);
  });
  return { entries: entries.map(open), size };
}
