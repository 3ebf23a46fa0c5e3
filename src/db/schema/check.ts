import type { Database, Engine, Reader } from '../database.ts';
import { SCHEMA_VERSION } from '../migrate.ts';
import { checkSqliteSchema } from '../sqlite/schema-check.ts';
import { SchemaError, type SchemaReport } from './difference.ts';

const CHECKS: Readonly<Record<Engine, (reader: Reader) => Promise<SchemaReport>>> = {
  sqlite: checkSqliteSchema,
  // Loaded on demand: it is not part of the bundle that a hook loads.
  postgres: async (reader) => (await import('../postgres/schema-check.ts')).checkPostgresSchema(reader),
};

/** Compares the schema with the one that the migrations create. */
export function checkSchema(reader: Reader): Promise<SchemaReport> {
  return CHECKS[reader.engine](reader);
}

/** Refuses a ledger with a changed schema. The callers refuse a database of another program and a newer ledger. */
export async function assertSchema(database: Pick<Database, 'location' | 'read'>): Promise<void> {
  for (;;) {
    const report = await readReport(database);
    if (!report.isMarked || report.version > SCHEMA_VERSION || report.differences.length === 0) return;
    // PostgreSQL describes objects as they are now, not as in the snapshot: a migration may have run in between.
    const again = await readReport(database);
    if (again.version === report.version && again.differences.length > 0)
      throw new SchemaError(database.location, again.differences);
  }
}

const MAX_ATTEMPTS = 10;

/**
 * PostgreSQL fails to describe a table of the snapshot that a migration has just dropped; the next snapshot lacks it.
 */
async function readReport(database: Pick<Database, 'read'>): Promise<SchemaReport> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await database.read(checkSchema);
    } catch (error) {
      const isDropped = error instanceof Error && 'code' in error && error.code === INTERNAL_ERROR;
      if (!isDropped || attempt === MAX_ATTEMPTS) throw error;
    }
}

/** "could not open relation", "cache lookup failed": https://www.postgresql.org/docs/current/errcodes-appendix.html */
const INTERNAL_ERROR = 'XX000';
