import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { OpenOptions } from '../../src/trust/open-database.ts';
import type { Lane, Script } from './script.ts';

/** The project folder, ledger and user that the processes of a round share. */
export interface World {
  readonly program: string;
  readonly folder: string;
  readonly ledger: Pick<OpenOptions, 'dbPath' | 'databaseUrl'>;
  readonly env: Readonly<Record<string, string>>;
}

export async function createWorld(
  { engine, durability, signs }: Script,
  parent: string,
  newPostgresUrl: () => Promise<string>,
): Promise<World> {
  const folder = resolve(parent);
  // Hooks record in projects that have this folder, also if the ledger is in PostgreSQL.
  mkdirSync(join(folder, '.colibri'), { mode: 0o700 });
  mkdirSync(join(folder, 'home'), { mode: 0o700 });
  writeFileSync(join(folder, 'clock.cjs'), CLOCK);
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

export function environmentOf({ env, folder }: World, { name, kind, clockBackMs }: Lane): Record<string, string> {
  return {
    ...env,
    ...(kind === 'agent' ? { COLIBRI_AGENT_ID: name } : {}),
    ...(clockBackMs === 0
      ? {}
      : { NODE_OPTIONS: `--require ${join(folder, 'clock.cjs')}`, CLOCK_BACK_MS: String(clockBackMs) }),
  };
}

/** A wall clock that is set back 300 ms after the process has started, as by an administrator. */
const CLOCK = `
  const TrueDate = Date;
  const now = () => TrueDate.now() - (performance.now() > 300 ? Number(process.env.CLOCK_BACK_MS) : 0);
  globalThis.Date = class extends TrueDate {
    constructor(...values) { values.length === 0 ? super(now()) : super(...values); }
    static now() { return now(); }
  };`;
