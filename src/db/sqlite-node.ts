import { faultOfNumber, type SqliteLibrary } from './sqlite-driver.ts';

/** The part of node:sqlite that is used here; the type files of the oldest supported Node do not know the module. */
interface NodeSqlite {
  readonly DatabaseSync: new (
    path: string,
    options: { readOnly: boolean },
  ) => {
    exec(sql: string): void;
    prepare(sql: string): { all(...parameters: unknown[]): unknown[] };
    close(): void;
  };
}

const { DatabaseSync } = quietly(() => process.getBuiltinModule('node:sqlite') as unknown as NodeSqlite);

export const nodeSqlite: SqliteLibrary = {
  open(path, { readOnly }) {
    const database = new DatabaseSync(path, { readOnly });
    return {
      exec: (sql) => {
        database.exec(sql);
      },
      prepare: (sql) => {
        const statement = database.prepare(sql);
        return { all: (parameters) => statement.all(...parameters) };
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

/** Some Node versions announce on stderr, between our JSON lines, that the module may still change. */
function quietly<Result>(load: () => Result): Result {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
