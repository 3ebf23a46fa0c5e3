import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { OpenOptions } from '../src/trust/open-database.ts';
import type { Round } from './part.ts';

export interface Setting {
  readonly engine: 'sqlite' | 'postgres';
  readonly durability: 'full' | 'relaxed';
  readonly signs: boolean;
}

/** The project folder, ledger and user that the processes of a round share. */
export interface World {
  readonly program: string;
  readonly folder: string;
  readonly ledger: Pick<OpenOptions, 'dbPath' | 'databaseUrl'>;
  readonly env: Readonly<Record<string, string>>;
}

export async function createWorld(
  { engine, durability, signs }: Setting,
  { folder: parent, newPostgresUrl }: Pick<Round, 'folder' | 'newPostgresUrl'>,
): Promise<World> {
  const folder = resolve(parent);
  // Hooks record in projects that have this folder, also if the ledger is in PostgreSQL.
  mkdirSync(join(folder, '.colibri'), { mode: 0o700 });
  mkdirSync(join(folder, 'home'), { mode: 0o700 });
  const dbPath = engine === 'sqlite' ? join(folder, '.colibri', 'colibri.db') : undefined;
  const databaseUrl = engine === 'postgres' ? await newPostgresUrl() : undefined;
  return {
    program: resolve('dist/colibri.cjs'),
    folder,
    ledger: { dbPath, databaseUrl },
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: join(folder, 'home'),
      COLIBRI_KEY_PATH: signs ? join(folder, 'home', 'key') : 'none',
      COLIBRI_LOG_LEVEL: 'error',
      COLIBRI_DURABILITY: durability,
      COLIBRI_CLAIM_TTL: '1s',
      ...(dbPath === undefined ? {} : { COLIBRI_DB_PATH: dbPath }),
      ...(databaseUrl === undefined ? {} : { COLIBRI_DATABASE_URL: databaseUrl }),
    },
  };
}
