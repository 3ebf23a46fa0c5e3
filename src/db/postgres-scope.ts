import type pg from 'pg';
import type { SqlValue, Transaction } from './database.ts';

/** What work is handed: statements on the connection that holds the transaction. */
export class Scope implements Transaction {
  readonly engine = 'postgres';
  readonly #client: pg.Client;
  readonly #explain: (error: unknown) => unknown;
  #failure: unknown;

  constructor(client: pg.Client, explain: (error: unknown) => unknown) {
    this.#client = client;
    this.#explain = explain;
  }

  /** What the first statement that failed failed with; all later ones fail because of it. */
  get failure(): unknown {
    return this.#failure;
  }

  async query<Shape>(sql: string, parameters: readonly SqlValue[] = []): Promise<Shape[]> {
    const statement = toStatement(sql, parameters);
    const { rows } = await this.#ask(() => this.#client.query(statement));
    return rows as Shape[];
  }

  send(sql: string, parameters: readonly SqlValue[] = []): void {
    // The end of the transaction looks at the failure.
    this.query(sql, parameters).catch(() => undefined);
  }

  async run(script: string): Promise<void> {
    await this.#ask(() => this.#client.query(script));
  }

  async schemaVersion(): Promise<number> {
    const [row] = await this.query<{ schema_version: number }>('SELECT schema_version FROM colibri WHERE id = 1');
    return row?.schema_version ?? 0;
  }

  async setSchemaVersion(version: number): Promise<void> {
    await this.query('UPDATE colibri SET schema_version = $1 WHERE id = 1', [version]);
  }

  async #ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      this.#failure ??= error;
      throw this.#explain(this.#failure);
    }
  }
}

/** Texts that are put together at run time may be many; the server keeps a plan for the first of them. */
const MAX_NAMED = 300;
const named = new Map<string, { readonly name: string | undefined; readonly parameterCount: number }>();

/** A text that has a name is parsed and planned once for each connection. */
function toStatement(sql: string, parameters: readonly SqlValue[]): pg.QueryConfig {
  let known = named.get(sql);
  if (known === undefined) {
    const numbers = [...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
    const name = named.size < MAX_NAMED ? `colibri_${named.size}` : undefined;
    known = { name, parameterCount: Math.max(0, ...numbers) };
    if (name !== undefined) named.set(sql, known);
  }
  if (parameters.length !== known.parameterCount)
    throw new Error(`${known.parameterCount} parameters wanted, ${parameters.length} given: ${sql}`);
  const { name } = known;
  return { text: sql, values: parameters.map(toParameter), ...(name === undefined ? {} : { name }) };
}

/** SQLite takes what is no number for NULL, which equals nothing; so does this. */
function toParameter(value: SqlValue): SqlValue {
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}
