import type { Client } from 'pg';
import type { SqlValue, Transaction } from './database.ts';
import { gather } from './postgres-packet.ts';
import { assertParameters, Batch, toStatement } from './postgres-statement.ts';

/** What work is handed: statements on the connection that holds the transaction. */
export class Scope implements Transaction {
  readonly engine = 'postgres';
  readonly #client: Client;
  readonly #explain: (error: unknown) => unknown;
  readonly #last = new Map<string, readonly SqlValue[]>();
  #batch = new Batch();
  #failure: unknown;

  constructor(client: Client, explain: (error: unknown) => unknown) {
    this.#client = client;
    this.#explain = explain;
  }

  /** What the first statement that failed failed with; all later ones fail because of it. */
  get failure(): unknown {
    return this.#failure;
  }

  async query<Shape>(sql: string, parameters: readonly SqlValue[] = []): Promise<Shape[]> {
    const statement = toStatement(sql, parameters);
    this.#flush();
    const { rows } = await this.#ask(() => this.#client.query(statement));
    return rows as Shape[];
  }

  /** Kept back until something is asked that needs an answer, because one statement costs less than several. */
  send(sql: string, parameters: readonly SqlValue[] = []): void {
    assertParameters(sql, parameters);
    if (this.#batch.take(sql, parameters)) return;
    this.#flush();
    this.#batch.take(sql, parameters);
  }

  sendLast(sql: string, parameters: readonly SqlValue[]): void {
    this.#last.set(sql, parameters);
  }

  /** Sends what was kept back; how it went is known when the commit is answered. */
  finish(): void {
    for (const [sql, parameters] of this.#last) this.send(sql, parameters);
    this.#flush();
  }

  async run(script: string): Promise<void> {
    this.#flush();
    await this.#ask(() => this.#client.query(script));
  }

  async schemaVersion(): Promise<number> {
    const [row] = await this.query<{ schema_version: number }>('SELECT schema_version FROM colibri WHERE id = 1');
    return row?.schema_version ?? 0;
  }

  async setSchemaVersion(version: number): Promise<void> {
    await this.query('UPDATE colibri SET schema_version = $1 WHERE id = 1', [version]);
  }

  #flush(): void {
    const statement = this.#batch.toStatement();
    this.#batch = new Batch();
    if (statement !== undefined) this.#ask(() => this.#client.query(statement)).catch(() => undefined);
  }

  async #ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      gather(this.#client);
      return await ask();
    } catch (error) {
      this.#failure ??= error;
      throw this.#explain(this.#failure);
    }
  }
}
