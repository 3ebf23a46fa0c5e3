import type { Database, Engine, Reader } from '../database.ts';
import { SCHEMA_VERSION } from '../migrate.ts';
import { checkPostgresSchema } from '../postgres/schema-check.ts';
import { checkSqliteSchema } from '../sqlite/schema-check.ts';
import { SchemaError, type SchemaReport } from './difference.ts';

const CHECKS: Readonly<Record<Engine, (reader: Reader) => Promise<SchemaReport>>> = {
  sqlite: checkSqliteSchema,
  postgres: checkPostgresSchema,
};

/** Compares the schema with the one that the migrations make. */
export function checkSchema(reader: Reader): Promise<SchemaReport> {
  return CHECKS[reader.engine](reader);
}

/** Refuses a ledger whose schema somebody changed. The callers refuse what is no ledger, or too new for this program. */
export async function assertSchema(database: Pick<Database, 'location' | 'read'>): Promise<void> {
  for (;;) {
    const report = await look(database);
    if (!report.isMarked || report.version > SCHEMA_VERSION || report.differences.length === 0) return;
    // PostgreSQL describes objects as they are now, not as they were at the snapshot: a migration may have come between.
    const again = await look(database);
    if (again.version === report.version && again.differences.length > 0)
      throw new SchemaError(database.location, again.differences);
  }
}

const MAX_LOOKS = 10;

/** PostgreSQL fails to describe a table of the snapshot that a migration has dropped meanwhile; the next one lacks it. */
async function look(database: Pick<Database, 'read'>): Promise<SchemaReport> {
  for (let looks = 1; ; looks += 1)
    try {
      return await database.read(checkSchema);
    } catch (error) {
      const isDropped = error instanceof Error && 'code' in error && error.code === INTERNAL_ERROR;
      if (!isDropped || looks === MAX_LOOKS) throw error;
    }
}

/** "could not open relation", "cache lookup failed": https://www.postgresql.org/docs/current/errcodes-appendix.html */
const INTERNAL_ERROR = 'XX000';
