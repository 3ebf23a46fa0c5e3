import type { Engine } from './database.ts';

/** What the engines spell differently in statements that are otherwise the same. */
export interface Dialect {
  /**
   * The time of a clock in SQL. `parameter` is the placeholder of its `nowMs()`, which is null for the database's
   * clock.
   */
  readonly clock: (parameter: string) => string;
  /** The time in milliseconds since 1970: that of the database where it has a clock of its own. */
  readonly wallClock: (databaseMs: number | undefined, localMs: number) => number;
  /** A condition: the text of a column contains the one of a placeholder. */
  readonly contains: (column: string, parameter: string) => string;
  /** A member of a JSON object in a column, as text. */
  readonly member: (column: string, name: string) => string;
  /**
   * A condition: the column is among those that a query selects. Looks each of them up, whatever the planner knows of
   * them.
   */
  readonly among: (column: string, query: string) => string;
}

const DIALECTS: Readonly<Record<Engine, Dialect>> = {
  sqlite: {
    clock: (parameter) => `CAST(${parameter} AS BIGINT)`,
    wallClock: (_databaseMs, localMs) => localMs,
    contains: (column, parameter) => `instr(${column}, ${parameter}) > 0`,
    member: (column, name) => `${column} ->> '${name}'`,
    among: (column, query) => `${column} IN (${query})`,
  },
  postgres: {
    clock: (parameter) =>
      `COALESCE(CAST(${parameter} AS BIGINT), CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))`,
    wallClock: (databaseMs) => databaseMs ?? 0,
    contains: (column, parameter) => `strpos(${column}, ${parameter}) > 0`,
    member: (column, name) => `CAST(${column} AS JSONB) ->> '${name}'`,
    // PostgreSQL turns IN into a join, for which it would read all rows where its statistics are missing or old.
    among: (column, query) => `${column} = ANY (ARRAY(${query}))`,
  },
};

export function dialectOf({ engine }: { readonly engine: Engine }): Dialect {
  return DIALECTS[engine];
}
