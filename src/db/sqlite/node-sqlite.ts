import { AdvisedError } from '../../errors.ts';
import { faultOfNumber, type SqliteLibrary } from './driver.ts';

/** The part of node:sqlite that is used here; the types of the oldest supported Node lack the module. */
interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
    options: { readOnly: boolean },
  ) => {
    exec(sql: string): void;
    prepare(sql: string): NodeStatement;
    close(): void;
  };
}

interface NodeStatement {
  all(...parameters: unknown[]): unknown[];
  columns(): readonly { readonly name: string }[];
  setReadBigInts(enabled: boolean): void;
}

const { DatabaseSync } = loadModule();

export const nodeSqlite: SqliteLibrary = {
  open(path, { readOnly }) {
    const database = new DatabaseSync(path, { readOnly });
    return {
      exec: (sql) => {
        database.exec(sql);
      },
      prepare: (sql) => {
        const statement = database.prepare(sql);
        return {
          columns: () => statement.columns().map(({ name }) => name),
          all: (parameters) => {
            try {
              return statement.all(...parameters);
            } catch (error) {
              // Only tampering stores integers above 2^53; verification must still read them.
              if (isBeyondExact(error) && sql.trimStart().startsWith('SELECT'))
                return readNearest(statement, parameters);
              throw error;
            }
          },
        };
      },
      close: () => {
        database.close();
      },
    };
  },
  faultOf: (error) =>
    error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
      ? faultOfNumber(error.errcode)
      : 'other',
};

function isBeyondExact(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';
}

/** Some distributions build Node without the module, and an option of Node disables it. */
function loadModule(): NodeSqlite {
  const found = quietly(() => process.getBuiltinModule('node:sqlite') as unknown as NodeSqlite | undefined);
  if (found !== undefined) return found;
  throw new AdvisedError('this Node has no SQLite: it was built without it, or an option disables it', {
    advice: 'remove --no-experimental-sqlite from NODE_OPTIONS, or use a Node from nodejs.org',
  });
}

/** Rounds integers to the nearest JavaScript number, as better-sqlite3 does. */
function readNearest(statement: NodeStatement, parameters: readonly unknown[]): unknown[] {
  statement.setReadBigInts(true);
  try {
    return statement.all(...parameters).map((row) => {
      const columns = Object.entries(row as Record<string, unknown>);
      return Object.fromEntries(
        columns.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
      );
    });
  } finally {
    statement.setReadBigInts(false);
  }
}

/** Suppresses the ExperimentalWarning of some Node versions: stderr must hold only JSON lines. */
function quietly<Result>(load: () => Result): Result {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
