import { inject } from 'vitest';
import { newPostgresUrl } from './postgres/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly engine: 'sqlite' | 'postgres';
  }
}

/** Where the ledgers are that stand for paths, so that a test which opens a path twice finds the same one. */
const places = new Map<string, Promise<string>>();

/** What tells a server where the ledger of a path is: in that file or, when the suite runs on PostgreSQL, in a schema. */
export async function ledgerAt(path: string): Promise<Record<string, string>> {
  const place = await placeOf(path);
  return isUrl(place) ? { COLIBRI_DATABASE_URL: place } : { COLIBRI_DB_PATH: place };
}

/** The same for who opens it without a server. */
export async function databaseAt(path: string): Promise<{ dbPath: string | undefined; databaseUrl?: string }> {
  const place = await placeOf(path);
  return isUrl(place) ? { dbPath: undefined, databaseUrl: place } : { dbPath: place };
}

/** From now on this URL or file stands for the path, whatever the suite runs on. */
export function placeLedger(path: string, place: string): void {
  places.set(path, Promise.resolve(place));
}

function placeOf(path: string): Promise<string> {
  const place = places.get(path) ?? (inject('engine') === 'sqlite' ? Promise.resolve(path) : newPostgresUrl());
  places.set(path, place);
  return place;
}

function isUrl(place: string): boolean {
  return place.startsWith('postgres:');
}
