import type { Engine } from '../../db/database.ts';

/** The time of a clock in SQL. `parameter` is the placeholder of its `nowMs()`, which is null for the database's clock. */
export function clockSql(engine: Engine, parameter: string): string {
  const given = `CAST(${parameter} AS BIGINT)`;
  return engine === 'sqlite'
    ? given
    : `COALESCE(${given}, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))`;
}
