import type { SqlValue } from '../database.ts';
import { listDefinitions } from '../migrate.ts';
import type { SqliteDriver, SqliteStatement } from './driver.ts';
import { STRICT, selectBytes } from './strict-select.ts';

export interface Prepared {
  readonly statement: SqliteStatement;
  /** From the order of $1, $2, … to the order in which they stand in the text. */
  readonly arrange: (parameters: readonly SqlValue[]) => readonly SqlValue[];
}

/**
 * SQLite's own $1 is a name, not a number; so the text gets a plain question mark for each. It also has another
 * expression for the bytes of a text.
 */
export function prepare(driver: SqliteDriver, sql: string): Prepared {
  const order: number[] = [];
  const positional = sql
    .replaceAll(/\$(\d+)/g, (_match, number: string) => {
      order.push(Number(number) - 1);
      return '?';
    })
    .replaceAll(/convert_to\((.*?), 'UTF8'\)/gs, 'CAST($1 AS BLOB)');
  const isInOrder = order.every((parameter, position) => parameter === position);
  const count = Math.max(0, ...order.map((parameter) => parameter + 1));
  return {
    statement: positional.startsWith(STRICT) ? prepareStrict(driver, positional) : driver.prepare(positional),
    arrange: (parameters) => {
      // One library would bind NULL to what is missing.
      if (parameters.length !== count)
        throw new Error(`${count} parameters wanted, ${parameters.length} given: ${sql}`);
      return isInOrder ? parameters : order.map((index) => parameters[index] ?? null);
    },
  };
}

function prepareStrict(driver: SqliteDriver, sql: string): SqliteStatement {
  return driver.prepare(selectBytes(sql, driver.prepare(sql).columns(), FLOATS));
}

/** The columns that may hold a REAL. */
const FLOATS: ReadonlySet<string> = new Set(
  listDefinitions('sqlite').flatMap((sql) =>
    [...sql.matchAll(/(\w+)\s+DOUBLE PRECISION/g)].map(([, name]) => name ?? ''),
  ),
);
