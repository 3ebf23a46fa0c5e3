import Sqlite from 'better-sqlite3';
import type { SqlValue } from './database.ts';
import { faultOfName, type SqliteLibrary, type SqliteStatement } from './sqlite-driver.ts';

export const betterSqlite: SqliteLibrary = {
  open(path, { readOnly }) {
    const database = new Sqlite(path, { readonly: readOnly, timeout: 0 });
    return {
      exec: (sql) => {
        database.exec(sql);
      },
      prepare: (sql) => wrap(database.prepare<SqlValue[]>(sql)),
      close: () => {
        database.close();
      },
    };
  },
  faultOf: (error) => (error instanceof Sqlite.SqliteError ? faultOfName(error.code) : 'other'),
};

function wrap(statement: Sqlite.Statement<SqlValue[]>): SqliteStatement {
  if (statement.reader) return { all: (parameters) => statement.all(...parameters) };
  return {
    all: (parameters) => {
      statement.run(...parameters);
      return [];
    },
  };
}
