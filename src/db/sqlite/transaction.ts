import type { SqlValue, Transaction } from '../database.ts';

/** What a transaction does with its connection. */
interface Connection {
  query(sql: string, parameters: readonly SqlValue[]): unknown[];
  run(script: string): void;
  schemaVersion(): Promise<number>;
  /** The script that marks a file as a ledger of this version. */
  mark(version: number): string;
}

export interface SqliteScope extends Transaction {
  /** Sends what was to be sent last. */
  complete(): void;
  /** Whoever goes on afterwards is refused: his statements would be in no transaction, or in that of the next. */
  end(): void;
}

/** What work is handed: one of its own for each, because what is known about a transaction ends with it. */
export function createSqliteScope(connection: Connection): SqliteScope {
  const last = new Map<string, readonly SqlValue[]>();
  let isOver = false;
  const open = (): Connection => {
    if (isOver) throw new Error('the transaction has ended');
    return connection;
  };
  const run = async (script: string) => open().run(script);
  return {
    engine: 'sqlite',
    query: async <Shape>(sql: string, parameters: readonly SqlValue[] = []) => open().query(sql, parameters) as Shape[],
    send: (sql, parameters = []) => void open().query(sql, parameters),
    sendAtCommit: (sql, parameters) => void last.set(sql, parameters),
    run,
    schemaVersion: () => connection.schemaVersion(),
    setSchemaVersion: (version) => run(connection.mark(version)),
    complete: () => {
      for (const [sql, parameters] of last) open().query(sql, parameters);
    },
    end: () => {
      isOver = true;
    },
  };
}
