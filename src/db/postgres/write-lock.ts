import { SCHEMA_VERSION } from '../migrate.ts';
import { sameSession } from './session.ts';

/** The table tells a ledger from any other schema. A transaction holds the write lock while it has locked its row. */
export const CREATE_MARK = `
  CREATE TABLE IF NOT EXISTS colibri (id INTEGER PRIMARY KEY CHECK (id = 1), schema_version INTEGER NOT NULL);
  INSERT INTO colibri (id, schema_version) VALUES (1, 0) ON CONFLICT DO NOTHING`;

/** A division by zero, SQLSTATE 22012, on an unfinished copy. */
const IS_FINISHED = '1 / CASE WHEN schema_version < 0 THEN 0 ELSE 1 END';
/** The root of a negative number, SQLSTATE 2201F, on a ledger that a newer version has migrated. */
const IS_KNOWN = `sqrt(CASE WHEN schema_version > ${SCHEMA_VERSION} THEN -1 ELSE 1 END)`;
/** The commit does not wait for the disk. */
const IS_RELAXED = "set_config('synchronous_commit', 'off', true)";

export interface LockOptions {
  readonly isDurable: boolean;
  readonly acceptsUnfinished: boolean;
}

/**
 * The query that takes the write lock, or fails with a SQLSTATE of its own for each reason. PostgreSQL evaluates the
 * checks again on the row as it is after the wait. `mark` is the placeholder of the session's mark.
 */
export function lockStatement(mark: string, { isDurable, acceptsUnfinished }: LockOptions): string {
  const checks = [sameSession(mark), ...(acceptsUnfinished ? [] : [IS_FINISHED]), IS_KNOWN];
  return `SELECT ${[...checks, ...(isDurable ? [] : [IS_RELAXED])].join(', ')} FROM colibri WHERE id = 1 FOR UPDATE`;
}
