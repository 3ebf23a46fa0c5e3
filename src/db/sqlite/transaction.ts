import type { SqlValue, Transaction } from '../database.ts';
import type { Statements } from './statements.ts';

/** What a transaction needs of its connection. */
interface Connection {
  readonly statements: Statements;
  run(script: string): void;
  schemaVersion(): Promise<number>;
  /** The script that marks a file as a ledger of this version. */
  mark(version: number): string;
  /** Turns an error of the library into one that the user can act on. */
  readonly guard: <Result>(action: () => Result) => Result;
}

export interface SqliteTransaction extends Transaction {
  /** Runs the statements that were queued for the commit. */
  runQueued(): void;
  /** Later statements throw instead of joining the next transaction. */
  end(): void;
}

export function createTransaction(connection: Connection): SqliteTransaction {
  const { statements, guard } = connection;
  const queued = new Map<string, readonly SqlValue[]>();
  let hasEnded = false;
  const assertOpen = (): void => {
    if (hasEnded) throw new Error('the transaction has ended');
  };
  const all = (sql: string, parameters: readonly SqlValue[]) => {
    assertOpen();
    return guard(() => statements.all(sql, parameters));
  };
  const run = async (script: string) => {
    assertOpen();
    connection.run(script);
  };
  return {
    engine: 'sqlite',
    query: async <Shape>(sql: string, parameters: readonly SqlValue[] = []) => all(sql, parameters) as Shape[],
    queryStored: async <Shape>(sql: string, parameters: readonly SqlValue[] = []) => {
      assertOpen();
      return guard(() => statements.allStored(sql, parameters)) as Shape[];
    },
    send: (sql, parameters = []) => void all(sql, parameters),
    sendAtCommit: (sql, parameters) => void queued.set(sql, parameters),
    run,
    schemaVersion: () => connection.schemaVersion(),
    setSchemaVersion: (version) => run(connection.mark(version)),
    runQueued: () => {
      for (const [sql, parameters] of queued) all(sql, parameters);
    },
    end: () => {
      hasEnded = true;
    },
  };
}
