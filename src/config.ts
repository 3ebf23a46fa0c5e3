import { isAbsolute, join, resolve } from 'node:path';
import { findUrlProblem, parsePostgresUrl } from './db/postgres/url.ts';
import { ColibriError } from './errors.ts';
import { findHomeFolder } from './home-folder.ts';
import { isProjectSlug } from './integrity/index.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';
import { MODES, type Mode } from './modes.ts';

export const WORKFLOW_NAMES = ['board', 'pipeline'] as const;
export const DURABILITIES = ['full', 'relaxed'] as const;

export interface Config {
  readonly mode: Mode;
  /** The file that the user named, and thereby vouches for. Without one, TEST mode uses a throw-away file. */
  readonly dbPath: string | undefined;
  /** The file that was found in the project when none was named; it may have come with a clone. */
  readonly projectDbPath: string | undefined;
  /** Set when the ledger is in PostgreSQL; `dbPath` then means nothing. May hold a password: never to be printed. */
  readonly databaseUrl: string | undefined;
  readonly agentId: string | undefined;
  readonly project: string;
  readonly workflow: (typeof WORKFLOW_NAMES)[number];
  readonly skillsPath: string;
  readonly durability: (typeof DURABILITIES)[number];
  readonly logLevel: LogLevel;
  readonly startupTimeoutMs: number;
}

const DEFAULT_DB_PATH = '.colibri/colibri.db';
const MAX_AGENT_ID_LENGTH = 128;

type Environment = Readonly<Record<string, string | undefined>>;

/** The only reader of the environment. An empty variable counts as none. */
export function readConfig(env: Environment = process.env): Config {
  refuseOldNames(env);
  return Object.freeze({
    mode: oneOf(env, 'COLIBRI_MODE', MODES, 'FULL'),
    dbPath: env['COLIBRI_DB_PATH'] || undefined,
    projectDbPath: undefined,
    databaseUrl: readDatabaseUrl(env),
    agentId: matching(
      env,
      'COLIBRI_AGENT_ID',
      isAgentId,
      `1 to ${MAX_AGENT_ID_LENGTH} characters, none of them a control character`,
    ),
    project:
      matching(env, 'COLIBRI_PROJECT', isProjectSlug, 'a slug of a-z, 0-9, ".", "_", "-", at most 64 characters') ??
      'default',
    workflow: oneOf(env, 'COLIBRI_WORKFLOW', WORKFLOW_NAMES, 'board'),
    skillsPath: env['COLIBRI_SKILLS_PATH'] || '.agents/skills',
    durability: oneOf(env, 'COLIBRI_DURABILITY', DURABILITIES, 'full'),
    logLevel: oneOf(env, 'COLIBRI_LOG_LEVEL', LOG_LEVELS, 'info'),
    startupTimeoutMs: Number(
      matching(env, 'COLIBRI_STARTUP_TIMEOUT_MS', isTimeout, 'a whole number of milliseconds from 1 to 3600000') ??
        30_000,
    ),
  });
}

/** For a child process that is to be configured by these variables alone. */
export function createEnvironment(own: Readonly<Record<string, string>>, env: Environment = process.env): Environment {
  const foreign = Object.entries(env).filter(([name]) => !/^(?:COLIBRI|AMS)_/.test(name));
  return { ...Object.fromEntries(foreign), ...own };
}

/** Where a user's programs keep configuration; undefined for a user without a home folder. */
export function findConfigFolder(env: Environment = process.env): string | undefined {
  const named = process.platform === 'win32' ? env['APPDATA'] : env['XDG_CONFIG_HOME'];
  // The XDG specification: a relative path is to be ignored.
  if (named !== undefined && isAbsolute(named)) return named;
  const home = findHomeFolder();
  return home === undefined ? undefined : join(home, '.config');
}

export type LedgerPlace = Pick<Config, 'dbPath'> & Partial<Pick<Config, 'projectDbPath'>>;

/** The absolute path of the SQLite file. */
export function locateDatabase({ dbPath, projectDbPath }: LedgerPlace): string {
  return resolve(dbPath ?? projectDbPath ?? DEFAULT_DB_PATH);
}

/** Where the ledger is, for people to read. */
export function describeLocation(config: LedgerPlace & Pick<Config, 'databaseUrl'>): string {
  return parsePostgresUrl(config.databaseUrl ?? '')?.location ?? locateDatabase(config);
}

/** The variables of the system that this one replaced. */
export function listOldNames(env: Environment = process.env): string[] {
  return Object.keys(env).filter((name) => name.startsWith('AMS_'));
}

/** A server that half-obeys the variables of the system it replaced would be worse than one that does not start. */
function refuseOldNames(env: Environment): void {
  const [old] = listOldNames(env);
  if (old !== undefined)
    throw invalid(old, 'AMS_* variables belong to the old system; unset it and use its COLIBRI_* counterpart');
}

/** Its value is in no message: it may hold a password. */
function readDatabaseUrl(env: Environment): string | undefined {
  const name = 'COLIBRI_DATABASE_URL';
  const value = env[name];
  if (!value) return undefined;
  if (env['COLIBRI_DB_PATH']) throw invalid(name, 'COLIBRI_DB_PATH is set as well; unset one of them');
  const problem = findUrlProblem(value);
  if (problem !== undefined) throw invalid(name, problem);
  return value;
}

function oneOf<Value extends string>(
  env: Environment,
  name: string,
  allowed: readonly Value[],
  fallback: Value,
): Value {
  const value = env[name];
  if (!value) return fallback;
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw invalid(name, `"${value}" is not one of ${allowed.join(', ')}`);
  return found;
}

function matching(
  env: Environment,
  name: string,
  accepts: (value: string) => boolean,
  rule: string,
): string | undefined {
  const value = env[name];
  if (!value) return undefined;
  if (!accepts(value)) throw invalid(name, `"${value}" is not ${rule}`);
  return value;
}

function isAgentId(value: string): boolean {
  return value.length <= MAX_AGENT_ID_LENGTH && value.isWellFormed() && !/\p{Cc}/u.test(value);
}

function isTimeout(value: string): boolean {
  return /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 3_600_000;
}

function invalid(name: string, problem: string): ColibriError {
  return new ColibriError('ERR_CONFIG_INVALID', `${name}: ${problem}`, { variable: name });
}
