import type { Clock, EnteredCall, SqlValue } from '../database.ts';

/** The clocks of the machines that share a database differ, so only the database tells the time. */
export const DATABASE_CLOCK: Clock = { id: 'database', nowMs: () => null };

/**
 * Appends a call's entry and inserts its row of `presence` in one statement, and therefore in one round trip: the
 * server computes the index and the tail. `lockAs` returns the query that takes the write lock, given the placeholder
 * of the session's mark, which is the last parameter. Returns no row, and writes nothing, when the entry completes a
 * block: then a node of the tree has to be stored as well.
 */
export function enterCallStatement(
  { entry, leaf, blockSize, salt, content, presence }: EnteredCall,
  lockAs: (mark: string) => string,
): { readonly sql: string; readonly parameters: readonly SqlValue[] } {
  const { actor, clockId, clockMs, replaces } = presence;
  const parameters = [leaf, entry, salt, content, actor, clockId, clockMs, replaces];
  const sql = `
    WITH write_lock AS (${lockAs(`$${parameters.length + 1}`)}),
    head AS (
      UPDATE ledger_head
      SET size = size + 1, tail = encode(sha256(convert_to(tail || CAST($1 AS TEXT), 'UTF8')), 'hex')
      FROM write_lock WHERE id = 1 AND (size + 1) % ${blockSize} <> 0 RETURNING size - 1 AS idx
    ), entry AS (
      INSERT INTO ledger_entries (idx, entry, salt, content)
      SELECT idx, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT) FROM head
    ), replaced AS (
      DELETE FROM presence USING head WHERE sequence_no = CAST($8 AS BIGINT) AND actor = CAST($5 AS TEXT)
      AND EXISTS (SELECT 1 FROM call_exits WHERE call_exits.sequence_no = presence.sequence_no)
    )
    INSERT INTO presence (sequence_no, actor, clock_id, clock_ms)
    SELECT idx, CAST($5 AS TEXT), CAST($6 AS TEXT),
      COALESCE(CAST($7 AS BIGINT), CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))
    FROM head RETURNING sequence_no AS idx`;
  return { sql, parameters };
}
