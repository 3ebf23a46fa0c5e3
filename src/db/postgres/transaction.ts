import type { Client } from 'pg';
import type { Row, SqlValue, Transaction } from '../database.ts';
import { Batch } from './protocol/batch.ts';
import type { Pipeline } from './protocol/pipeline.ts';
import { assertParameters, type Statement, toStatement } from './protocol/statement.ts';

/** What work is handed: statements on the connection that holds the transaction. */
export class Scope implements Transaction {
  readonly engine = 'postgres';
  readonly #client: Client;
  readonly #pipeline: Pipeline;
  readonly #explain: (error: unknown) => unknown;
  readonly #last = new Map<string, readonly SqlValue[]>();
  readonly #batch = new Batch();
  #failure: unknown;
  #isOver = false;

  constructor({ client, pipeline }: Way, explain: (error: unknown) => unknown) {
    this.#client = client;
    this.#pipeline = pipeline;
    this.#explain = explain;
  }

  /** What the first statement that failed failed with; all later ones fail because of it. */
  get failure(): unknown {
    return this.#failure;
  }

  async query<Shape>(sql: string, parameters: readonly SqlValue[] = []): Promise<Shape[]> {
    this.#assertOpen();
    const statement = toStatement(sql, parameters);
    this.#sendBatch();
    return (await this.#ask(statement)) as Shape[];
  }

  /** PostgreSQL stores neither a NUL nor invalid UTF-8, and no value of another type than its column's. */
  queryStored<Shape>(sql: string, parameters: readonly SqlValue[] = []): Promise<Shape[]> {
    return this.query(sql, parameters);
  }

  /** Kept back until something is asked that needs an answer, because one statement costs less than several. */
  send(sql: string, parameters: readonly SqlValue[] = []): void {
    this.#assertOpen();
    assertParameters(sql, parameters);
    if (this.#batch.take(sql, parameters)) return;
    this.#sendBatch();
    this.#batch.take(sql, parameters);
  }

  sendAtCommit(sql: string, parameters: readonly SqlValue[]): void {
    this.#last.set(sql, parameters);
  }

  /** Asks for what the scope itself needs; whatever is asked for afterwards fails with it. */
  start(...statements: readonly Statement[]): void {
    for (const statement of statements) this.#ask(statement).catch(() => undefined);
  }

  /** Ends the transaction with all that was kept back. */
  async commit(): Promise<void> {
    for (const [sql, parameters] of this.#last) this.send(sql, parameters);
    this.end();
    this.#sendBatch();
    const committed = this.#ask(COMMIT);
    this.#pipeline.flush();
    await committed;
  }

  /** The same for who changed nothing: it leaves together with what comes next, and does not fail it. */
  async leave(): Promise<void> {
    this.end();
    const left = this.#ask(COMMIT);
    this.#pipeline.separate();
    await left;
  }

  /** Whoever goes on afterwards is refused: his statements would be in no transaction, or in that of the next. */
  end(): void {
    this.#isOver = true;
  }

  async run(script: string): Promise<void> {
    this.#assertOpen();
    this.#sendBatch();
    this.#pipeline.flush();
    await this.#watch(this.#client.query(script));
  }

  async schemaVersion(): Promise<number> {
    const [row] = await this.query<{ schema_version: number }>('SELECT schema_version FROM colibri WHERE id = 1');
    return row?.schema_version ?? 0;
  }

  async setSchemaVersion(version: number): Promise<void> {
    await this.query('UPDATE colibri SET schema_version = $1 WHERE id = 1', [version]);
  }

  #assertOpen(): void {
    if (this.#isOver) throw new Error('the transaction has ended');
  }

  #sendBatch(): void {
    const statement = this.#batch.empty();
    if (statement !== undefined) this.#ask(statement).catch(() => undefined);
  }

  #ask(statement: Statement): Promise<Row[]> {
    return this.#watch(this.#pipeline.ask(statement));
  }

  async #watch<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      this.#failure ??= error;
      throw this.#explain(this.#failure);
    }
  }
}

/** A connection, and how statements get onto it. */
export interface Way {
  readonly client: Client;
  readonly pipeline: Pipeline;
  /** What its backend was marked with. */
  readonly mark: string;
}

/** By a name that tells: whoever looks at the wire sees what may have been committed. */
const COMMIT: Statement = { name: 'COMMIT', text: 'COMMIT', parameters: [], tag: 'COMMIT' };
