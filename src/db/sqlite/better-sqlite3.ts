import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { AdvisedError, toError } from '../../errors.ts';
import { shapeOf } from '../../integrity/parse-json.ts';
import { locateInPackage } from '../../version.ts';
import type { SqlValue } from '../database.ts';
import { faultOfName, type SqliteLibrary, type SqliteStatement } from './driver.ts';

/** Where scripts/sqlite-module.cjs installs the module. */
const NATIVE = locateInPackage('native/better-sqlite3');
const load = createRequire(import.meta.url);
const isOwn = existsSync(NATIVE);
const Library = loadLibrary();

/** Opens a file with the module itself. */
export function openBetterSqlite(path: string, options: Sqlite.Options = {}): Sqlite.Database {
  // Without the option, the module would search for its binary with a dependency that is not installed.
  const nativeBinding = isOwn ? { nativeBinding: join(NATIVE, 'build/Release/better_sqlite3.node') } : {};
  return new Library(path, { ...options, ...nativeBinding });
}

export const betterSqlite: SqliteLibrary = {
  open(path, { readOnly }) {
    const database = openBetterSqlite(path, { readonly: readOnly, timeout: 0 });
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
  faultOf: (error) => (error instanceof Library.SqliteError ? faultOfName(error.code) : 'other'),
};

/** The module of this package, else one that the user installed beside it. */
function loadLibrary(): typeof Sqlite {
  try {
    return load(isOwn ? NATIVE : 'better-sqlite3') as typeof Sqlite;
  } catch (error) {
    throw new AdvisedError('this version of Node has no SQLite, and the module better-sqlite3 is not installed', {
      advice: `use Node 22.16 or later, or run node ${locateInPackage('scripts/sqlite-module.cjs')}`,
      cause: toError(error),
    });
  }
}

function wrap(statement: Sqlite.Statement<SqlValue[]>): SqliteStatement {
  const columns = () => (statement.reader ? statement.columns().map(({ name }) => name) : []);
  if (statement.reader) return { columns, all: rowReader(statement) };
  return {
    columns,
    all: (parameters) => {
      statement.run(...parameters);
      return [];
    },
  };
}

/** The add-on returns arrays twice as fast as objects. */
function rowReader(statement: Sqlite.Statement<SqlValue[]>): SqliteStatement['all'] {
  const names = statement.columns().map(({ name }) => name);
  const emptyRow = shapeOf(names);
  statement.raw(true);
  return (parameters) =>
    (statement.all(...parameters) as unknown[][]).map((values) => {
      const row = emptyRow();
      for (let column = 0; column < names.length; column += 1) row[names[column] as string] = values[column];
      return row;
    });
}
