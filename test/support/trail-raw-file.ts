import { hasBuiltInSqlite } from '../../src/db/sqlite-driver.ts';

/** Runs SQL on a file as a forger does, who minds no rule of the program: also on the inner tables of the search index. */
export async function tamperFile(path: string, sql: string): Promise<void> {
  const file = await openRaw(path);
  try {
    file.exec(`PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON; ${sql}`);
  } finally {
    file.close();
  }
}

interface RawFile {
  exec(sql: string): unknown;
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
