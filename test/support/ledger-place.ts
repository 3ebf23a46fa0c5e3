import { inject } from 'vitest';
import { newPostgresUrl } from './postgres/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly engine: 'sqlite' | 'postgres';
  }
}

/** The schemas that stand for files, so that a test which opens a path twice finds the same ledger. */
const schemas = new Map<string, Promise<string>>();

/** What tells a server where the ledger of a path is: in that file or, when the suite runs on PostgreSQL, in a schema. */
export async function ledgerAt(path: string): Promise<Record<string, string>> {
  if (inject('engine') === 'sqlite') return { COLIBRI_DB_PATH: path };
  return { COLIBRI_DATABASE_URL: await urlFor(path) };
}

/** The same for who opens it without a server. */
export async function databaseAt(
  path: string,
): Promise<{ dbPath: string } | { dbPath: undefined; databaseUrl: string }> {
  return inject('engine') === 'sqlite' ? { dbPath: path } : { dbPath: undefined, databaseUrl: await urlFor(path) };
}

/** From now on this URL stands for the path. */
export function placeLedger(path: string, url: string): void {
  schemas.set(path, Promise.resolve(url));
}

function urlFor(path: string): Promise<string> {
  const url = schemas.get(path) ?? newPostgresUrl();
  schemas.set(path, url);
  return url;
}
