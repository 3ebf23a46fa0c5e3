import type { Row, SqlValue, Transaction } from '../database.ts';
import type { Connection } from './connection.ts';
import { Batch } from './protocol/batch.ts';
import { assertParameters, type Statement, toStatement } from './protocol/statement.ts';

/** The statements of one transaction on the connection that holds it. */
export class PostgresTransaction implements Transaction {
  readonly engine = 'postgres';
  readonly #connection: Connection;
  readonly #explain: (error: unknown) => unknown;
  readonly #queued = new Map<string, readonly SqlValue[]>();
  readonly #batch = new Batch();
  #failure: unknown;
  #hasEnded = false;

  constructor(connection: Connection, explain: (error: unknown) => unknown) {
    this.#connection = connection;
    this.#explain = explain;
  }

  /** The error of the first statement that failed; all later ones fail because of it. */
  get failure(): unknown {
    return this.#failure;
  }

  async query<Shape>(sql: string, parameters: readonly SqlValue[] = []): Promise<Shape[]> {
    this.#assertOpen();
    const statement = toStatement(sql, parameters);
    this.#sendBatch();
    return (await this.#run(statement)) as Shape[];
  }

  /** PostgreSQL stores neither a NUL nor invalid UTF-8, and no value of another type than its column's. */
  queryStored<Shape>(sql: string, parameters: readonly SqlValue[] = []): Promise<Shape[]> {
    return this.query(sql, parameters);
  }

  /** Delayed until a result is needed, because one merged statement costs less than several. */
  send(sql: string, parameters: readonly SqlValue[] = []): void {
    this.#assertOpen();
    assertParameters(sql, parameters);
    if (this.#batch.take(sql, parameters)) return;
    this.#sendBatch();
    this.#batch.take(sql, parameters);
  }

  sendAtCommit(sql: string, parameters: readonly SqlValue[]): void {
    this.#queued.set(sql, parameters);
  }

  /** Sends the statements that begin the transaction. If one fails, every later statement fails with its error. */
  begin(...statements: readonly Statement[]): void {
    for (const statement of statements) this.#run(statement).catch(() => undefined);
  }

  async commit(): Promise<void> {
    for (const [sql, parameters] of this.#queued) this.send(sql, parameters);
    this.end();
    this.#sendBatch();
    const committed = this.#run(COMMIT);
    this.#connection.pipeline.flush();
    await committed;
  }

  /** Ends a transaction that changed nothing. Sent together with the next packet, which does not fail with it. */
  async commitUnchanged(): Promise<void> {
    this.end();
    const committed = this.#run(COMMIT);
    this.#connection.pipeline.endPacket();
    await committed;
  }

  /** Later statements throw instead of joining the next transaction. */
  end(): void {
    this.#hasEnded = true;
  }

  async run(script: string): Promise<void> {
    this.#assertOpen();
    this.#sendBatch();
    this.#connection.pipeline.flush();
    await this.#watch(this.#connection.client.query(script));
  }

  async schemaVersion(): Promise<number> {
    const [row] = await this.query<{ schema_version: number }>('SELECT schema_version FROM colibri WHERE id = 1');
    return row?.schema_version ?? 0;
  }

  async setSchemaVersion(version: number): Promise<void> {
    await this.query('UPDATE colibri SET schema_version = $1 WHERE id = 1', [version]);
  }

  #assertOpen(): void {
    if (this.#hasEnded) throw new Error('the transaction has ended');
  }

  #sendBatch(): void {
    const statement = this.#batch.flush();
    if (statement !== undefined) this.#run(statement).catch(() => undefined);
  }

  #run(statement: Statement): Promise<Row[]> {
    return this.#watch(this.#connection.pipeline.query(statement));
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

/** Named, so that a capture of the traffic shows what may have been committed. */
const COMMIT: Statement = { name: 'COMMIT', text: 'COMMIT', parameters: [], tag: 'COMMIT' };
