import type { EnteredCall, SqlValue } from '../database.ts';

/**
 * Appends a call's entry and inserts its row in one statement, and therefore in one round trip: the server computes the
 * index and the tail. `lockAs` returns the query that takes the write lock, given the placeholder of the session's mark,
 * which is the last parameter. Returns no row, and writes nothing, when the entry completes a block: then a node of the
 * tree has to be stored as well.
 */
export function enterCallStatement(
  { entry, leaf, blockSize, salt, content }: EnteredCall,
  lockAs: (mark: string) => string,
): { readonly sql: string; readonly parameters: readonly SqlValue[] } {
  const parameters = [leaf, entry, salt, content];
  const sql = `
    WITH write_lock AS (${lockAs(`$${parameters.length + 1}`)}),
    head AS (
      UPDATE ledger_head
      SET size = size + 1, tail = encode(sha256(convert_to(tail || CAST($1 AS TEXT), 'UTF8')), 'hex')
      FROM write_lock WHERE id = 1 AND (size + 1) % ${blockSize} <> 0 RETURNING size - 1 AS idx
    ), entry AS (
      INSERT INTO ledger_entries (idx, entry, salt, content)
      SELECT idx, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT) FROM head
    )
    INSERT INTO open_calls (sequence_no) SELECT idx FROM head RETURNING sequence_no AS idx`;
  return { sql, parameters };
}
