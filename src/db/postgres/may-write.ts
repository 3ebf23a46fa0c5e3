import type { Reader } from '../database.ts';

/** True on a replica, and for a role that may not add entries to the ledger. Not true where there is no ledger yet. */
export async function mayOnlyReadPostgres(reader: Reader): Promise<boolean> {
  const [row] = await reader.query<{ reads: number }>(
    "SELECT pg_is_in_recovery() OR NOT has_table_privilege(to_regclass('ledger_entries'), 'INSERT') AS reads",
  );
  return row?.reads === 1;
}
