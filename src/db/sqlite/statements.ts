import type { SqlValue } from '../database.ts';
import { listDefinitions } from '../migrate.ts';
import type { SqliteDriver, SqliteStatement } from './driver.ts';
import { canSelectBytes, decodeRow, selectBytes } from './stored-values.ts';

/** The prepared statements of one connection, by their text. */
export class Statements {
  readonly #driver: SqliteDriver;
  readonly #prepared = new Map<string, Prepared>();
  readonly #preparedStored = new Map<string, Prepared>();

  constructor(driver: SqliteDriver) {
    this.#driver = driver;
  }

  all(sql: string, parameters: readonly SqlValue[]): Record<string, SqlValue>[] {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      const { text, arrange } = toPositional(sql);
      prepared = { statement: this.#driver.prepare(text), arrange };
      this.#prepared.set(sql, prepared);
    }
    return prepared.statement.all(prepared.arrange(parameters)) as Record<string, SqlValue>[];
  }

  /** The same with every value as it is stored. */
  allStored(sql: string, parameters: readonly SqlValue[]): Record<string, unknown>[] {
    if (!canSelectBytes(sql)) return this.all(sql, parameters);
    let prepared = this.#preparedStored.get(sql);
    if (prepared === undefined) {
      const { text, arrange } = toPositional(sql);
      const columns = this.#driver.prepare(text).columns();
      prepared = { statement: this.#driver.prepare(selectBytes(text, columns, floatColumns())), arrange };
      this.#preparedStored.set(sql, prepared);
    }
    const rows = prepared.statement.all(prepared.arrange(parameters)) as Record<string, unknown>[];
    for (const row of rows) decodeRow(row);
    return rows;
  }

  clear(): void {
    this.#prepared.clear();
    this.#preparedStored.clear();
  }
}

interface Prepared {
  readonly statement: SqliteStatement;
  readonly arrange: Arrange;
}

/** From the order of $1, $2, … to the order in which they occur in the text. */
type Arrange = (parameters: readonly SqlValue[]) => readonly SqlValue[];

/**
 * Translates the port's SQL: to SQLite $1 is a name and not a number, so each becomes a question mark, and the bytes of
 * a text have another expression.
 */
function toPositional(sql: string): { readonly text: string; readonly arrange: Arrange } {
  const order: number[] = [];
  const text = sql
    .replaceAll(/\$(\d+)/g, (_match, number: string) => {
      order.push(Number(number) - 1);
      return '?';
    })
    .replaceAll(/convert_to\((.*?), 'UTF8'\)/gs, 'CAST($1 AS BLOB)');
  const isInOrder = order.every((parameter, position) => parameter === position);
  const count = Math.max(0, ...order.map((parameter) => parameter + 1));
  const arrange: Arrange = (parameters) => {
    // One of the two libraries would bind NULL to a missing parameter.
    if (parameters.length !== count)
      throw new Error(`expected ${count} parameters, received ${parameters.length}: ${sql}`);
    return isInOrder ? parameters : order.map((index) => parameters[index] ?? null);
  };
  return { text, arrange };
}

let floats: ReadonlySet<string> | undefined;

/** The columns that may hold a REAL. Searched when it is needed: hooks read no stored rows. */
function floatColumns(): ReadonlySet<string> {
  floats ??= new Set(
    listDefinitions('sqlite').flatMap((sql) =>
      [...sql.matchAll(/\b(\w+)\s+DOUBLE PRECISION/g)].map(([, name]) => name ?? ''),
    ),
  );
  return floats;
}
