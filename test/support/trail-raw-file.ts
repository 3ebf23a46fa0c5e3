import { hasBuiltInSqlite } from '../../src/db/sqlite/driver.ts';

/** Runs SQL on a file as a forger does, who minds no rule of the program: also on the inner tables of the search index. */
export async function tamperFile(path: string, sql: string): Promise<void> {
  const file = await openRaw(path);
  try {
    file.exec(`PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON; ${sql}`);
  } finally {
    file.close();
  }
}

export interface RawFile {
  exec(sql: string): unknown;
  prepare(sql: string): { all(): unknown[] };
  close(): unknown;
}

async function openRaw(path: string): Promise<RawFile> {
  if (hasBuiltInSqlite(process.versions.node)) {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
      DatabaseSync: new (path: string, options: { defensive: boolean }) => RawFile;
    };
    return new DatabaseSync(path, { defensive: false });
  }
  const { default: Sqlite } = await import('better-sqlite3');
  return new Sqlite(path).unsafeMode(true);
}

/**
 * A connection on which every column takes a value of any type, while the file says what it always said: the schema is
 * stored without types, loaded, and stored as it was.
 */
export async function openWithoutTypes(path: string): Promise<RawFile> {
  const file = await openRaw(path);
  file.exec('PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON');
  const tables = file
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'task_search%'")
    .all() as { name: string; sql: string }[];
  const store = (name: string, sql: string) =>
    file.exec(`UPDATE sqlite_schema SET sql = '${sql.replaceAll("'", "''")}' WHERE name = '${name}'`);
  for (const { name, sql } of tables) store(name, withoutTypes(sql));
  file.exec('PRAGMA writable_schema = RESET; PRAGMA writable_schema = ON');
  for (const { name, sql } of tables) store(name, sql);
  return file;
}

/** Leaves only what the layout of the file depends on: the alias of the rowid and the keys with an index of their own. */
function withoutTypes(sql: string): string {
  return sql
    .replaceAll(/(\w+) +(?:INTEGER|BIGINT|TEXT|DOUBLE PRECISION)(?: NOT NULL)?(?=[,\n])/g, '$1')
    .replaceAll(/(\w+) +TEXT PRIMARY KEY/g, '$1 PRIMARY KEY');
}
