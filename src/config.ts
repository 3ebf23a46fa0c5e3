import { isAbsolute, join, resolve } from 'node:path';
import { findUrlProblem, parsePostgresUrl } from './db/postgres/url.ts';
import { ColibriError } from './errors.ts';
import { findHomeFolder } from './home-folder.ts';
import { isProjectSlug, PERSON_PREFIX, RECORDER_PREFIX } from './integrity/index.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';
import { MODES, type Mode } from './modes.ts';
import { describeDurations, MAX_DURATION, parseDuration } from './text/duration.ts';
import { isPersonLike, isReservedLike } from './text/reserved-name.ts';

export const WORKFLOW_NAMES = ['board', 'pipeline'] as const;
/** How much readable content of an observed event is stored: none, an excerpt, or a longer one. */
export const RECORD_LEVELS = ['digests', 'excerpts', 'full'] as const;
type RecordLevel = (typeof RECORD_LEVELS)[number];
export const DURABILITIES = ['full', 'relaxed'] as const;

export interface Config {
  readonly mode: Mode;
  /** The file that the user named, which is therefore trusted. Without one, TEST mode uses a temporary file. */
  readonly dbPath: string | undefined;
  /** The file that was found in the project if the user named none; it may have come with a clone. */
  readonly projectDbPath: string | undefined;
  /** Set if the ledger is in PostgreSQL; `dbPath` is then ignored. May contain a password: never print it. */
  readonly databaseUrl: string | undefined;
  /** The name of the actor, used as it is. */
  readonly agentId: string | undefined;
  /** The name that agents are numbered with among live ones, in place of the client's: an id that ended with `#`. */
  readonly agentBase: string | undefined;
  readonly project: string;
  readonly workflow: (typeof WORKFLOW_NAMES)[number];
  /** How long the holder of a task may be silent before others can take it over; undefined: as long as it lives. */
  readonly claimTtlMs: number | undefined;
  readonly skillsPath: string;
  /** The absolute path of the key that signs checkpoints; undefined: the user's own; `none`: sign nothing. */
  readonly keyPath: string | undefined;
  readonly durability: (typeof DURABILITIES)[number];
  /** Reported by every program that can fail; `colibri hook`, which must not, reads it itself. */
  readonly recordLevel: RecordLevel;
  readonly logLevel: LogLevel;
  readonly startupTimeoutMs: number;
}

/** Absolute, because a server is started in many folders and each would get a key of its own. */
const isKeyPath = (value: string): boolean => value === 'none' || isAbsolute(value);

const DEFAULT_DB_PATH = '.colibri/colibri.db';
const MAX_AGENT_ID_LENGTH = 128;

type Environment = Readonly<Record<string, string | undefined>>;

/** The only function that reads COLIBRI_* variables. An empty variable counts as unset. */
export function readConfig(env: Environment = process.env): Config {
  assertNoOldNames(env);
  return Object.freeze({
    mode: oneOf(env, 'COLIBRI_MODE', MODES, 'FULL'),
    dbPath: readPath(env, 'COLIBRI_DB_PATH'),
    projectDbPath: undefined,
    databaseUrl: readDatabaseUrl(env),
    ...readAgentId(env),
    project:
      matching(env, 'COLIBRI_PROJECT', isProjectSlug, 'a slug of a-z, 0-9, ".", "_", "-", at most 64 characters') ??
      'default',
    workflow: oneOf(env, 'COLIBRI_WORKFLOW', WORKFLOW_NAMES, 'board'),
    claimTtlMs: readClaimTtl(env),
    skillsPath: readPath(env, 'COLIBRI_SKILLS_PATH') ?? '.agents/skills',
    keyPath: matching(env, 'COLIBRI_KEY_PATH', isKeyPath, 'an absolute path, or none'),
    durability: oneOf(env, 'COLIBRI_DURABILITY', DURABILITIES, 'full'),
    recordLevel: oneOf(env, 'COLIBRI_RECORD', RECORD_LEVELS, 'excerpts'),
    logLevel: oneOf(env, 'COLIBRI_LOG_LEVEL', LOG_LEVELS, 'info'),
    startupTimeoutMs: Number(
      matching(env, 'COLIBRI_STARTUP_TIMEOUT_MS', isTimeout, 'a whole number of milliseconds from 1 to 3600000') ??
        30_000,
    ),
  });
}

/**
 * For the commands of people: they are not recorded under the name of an agent, so that one which only a server must
 * refuse does not stop them.
 */
export function readCommandConfig(env: Environment = process.env): Config {
  const isReserved = isReservedLike(withoutBaseMark(env['COLIBRI_AGENT_ID'] ?? ''));
  return readConfig(isReserved ? { ...env, COLIBRI_AGENT_ID: undefined } : env);
}

/** Whether COLIBRI_AGENT_ID looks like a person's name, which is reserved for --as. */
export function namesPerson(env: Environment = process.env): boolean {
  return isPersonLike(env['COLIBRI_AGENT_ID'] ?? '');
}

/** Names the session whose events are a test: they wait under a name that is never ingested. */
export const TEST_SESSION = 'COLIBRI_HOOK_TEST';

export interface HookConfig extends Pick<Config, 'dbPath'> {
  /** The projects that the client names, the most reliable first. */
  readonly projectFolders: readonly string[];
  readonly level: RecordLevel;
  readonly isDurable: boolean;
  /** Whether a hook may write to the ledger itself: one in a file, in the mode that writes. */
  readonly mayIngest: boolean;
  /** Copilot CLI also reports with the field names of other clients. Its shells have the variable as well. */
  readonly isInCopilotCli: boolean;
  /** What the variables of clients say about their versions. */
  readonly clientVersions: Readonly<Record<string, string | undefined>>;
  /** The session of the events that `colibri doctor` sends. */
  readonly testSession: string | undefined;
}

/** For `colibri hook`, which never fails an agent: a wrong value counts as the one that stores least or is safest. */
export function readHookConfig(env: Environment = process.env): HookConfig {
  const folders = [env['CLAUDE_PROJECT_DIR'], env['GEMINI_PROJECT_DIR'], env['CURSOR_PROJECT_DIR']];
  const level = env['COLIBRI_RECORD'] || 'excerpts';
  return {
    dbPath: env['COLIBRI_DB_PATH'] || undefined,
    projectFolders: folders.filter((folder) => folder !== undefined && isAbsolute(folder)) as string[],
    level: RECORD_LEVELS.find((candidate) => candidate === level) ?? 'digests',
    isDurable: env['COLIBRI_DURABILITY'] !== 'relaxed',
    mayIngest: (env['COLIBRI_MODE'] || 'FULL') === 'FULL' && !env['COLIBRI_DATABASE_URL'],
    isInCopilotCli: env['COPILOT_CLI'] === '1',
    clientVersions: {
      'claude-code': /^claude-code_(\d+-\d+-\d+)_/.exec(env['AI_AGENT'] ?? '')?.[1]?.replaceAll('-', '.'),
      'copilot-cli': /^\d+\.\d+\.\d+(?:-[\w.]{1,32})?$/.exec(env['COPILOT_CLI_BINARY_VERSION'] ?? '')?.[0],
    },
    testSession: env[TEST_SESSION] || undefined,
  };
}

/** The environment of a child process that is configured by `own` alone. */
export function createEnvironment(own: Readonly<Record<string, string>>, env: Environment = process.env): Environment {
  const foreign = Object.entries(env).filter(([name]) => !/^(?:COLIBRI|AMS)_/.test(name));
  return { ...Object.fromEntries(foreign), ...own };
}

/**
 * The environment of git when it reads: a repository may have come from anywhere, so nothing is fetched for it, and
 * nothing is looked up in its folder. Readers must not use the index of a running commit.
 */
export function createGitEnvironment(
  own: Readonly<Record<string, string | undefined>> = {},
  env: Environment = process.env,
): Environment {
  return {
    ...env,
    GIT_INDEX_FILE: undefined,
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
    NoDefaultCurrentDirectoryInExePath: '1',
    ...own,
  };
}

/** The user's configuration folder; undefined for a user without a home folder. */
export function findConfigFolder(env: Environment = process.env): string | undefined {
  const named = process.platform === 'win32' ? env['APPDATA'] : env['XDG_CONFIG_HOME'];
  // The XDG specification requires that relative paths are ignored.
  if (named !== undefined && isAbsolute(named)) return named;
  const home = findHomeFolder();
  return home === undefined ? undefined : join(home, '.config');
}

export type LedgerPlace = Pick<Config, 'dbPath'> & Partial<Pick<Config, 'projectDbPath'>>;

/** The absolute path of the SQLite file. */
export function locateDatabase({ dbPath, projectDbPath }: LedgerPlace): string {
  return resolve(dbPath ?? projectDbPath ?? DEFAULT_DB_PATH);
}

/** The path or URL of the ledger without its password: safe to print. */
export function describeLocation(config: LedgerPlace & Pick<Config, 'databaseUrl'>): string {
  return parsePostgresUrl(config.databaseUrl ?? '')?.location ?? locateDatabase(config);
}

/** Whether the user wants colors where the output is not a terminal. Node evaluates the variable for terminals. */
export function isColorForced(env: Environment = process.env): boolean {
  return !['0', 'false', undefined].includes(env['FORCE_COLOR']);
}

/** Whether the terminal knows no escape sequences. */
export function isDumbTerminal(env: Environment = process.env): boolean {
  return env['TERM'] === 'dumb';
}

/** Variables of the system that Colibri replaced. */
export function listOldNames(env: Environment = process.env): string[] {
  return Object.keys(env).filter((name) => name.startsWith('AMS_'));
}

/** Refused, because ignoring some of these variables could change the behavior unnoticed. */
function assertNoOldNames(env: Environment): void {
  const [old] = listOldNames(env);
  if (old !== undefined)
    throw invalid(old, 'AMS_* variables belong to the old system', 'unset it and use its COLIBRI_* counterpart');
}

/** No message contains the value, because it may contain a password. */
function readDatabaseUrl(env: Environment): string | undefined {
  const name = 'COLIBRI_DATABASE_URL';
  const value = env[name];
  if (!value) return undefined;
  if (env['COLIBRI_DB_PATH']) throw invalid(name, 'COLIBRI_DB_PATH is set as well', 'unset one of them');
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

/** Clients start servers without a shell: each project would get a folder named `~`, with a ledger of its own. */
const UNREPLACED = /^(?:~[\w.-]*(?:[/\\]|$)|(?:\$\{[^}]+\}|\$[A-Za-z_]\w*|%\w+%)[/\\])/;

function readPath(env: Environment, name: string): string | undefined {
  const value = env[name] || undefined;
  const [beginning] = UNREPLACED.exec(value ?? '') ?? [];
  if (beginning === undefined) return value;
  throw invalid(name, `nothing has replaced the ${beginning} in "${value}"`, 'write the whole path');
}

function readAgentId(env: Environment): Pick<Config, 'agentId' | 'agentBase'> {
  const value = matching(
    env,
    'COLIBRI_AGENT_ID',
    (id) => isAgentId(withoutBaseMark(id)),
    `1 to ${MAX_AGENT_ID_LENGTH} characters, none of them a control character, no white space at the ends, not unassigned or colibri, and not a person's (${PERSON_PREFIX}…) or a recorder's (${RECORDER_PREFIX}…); a # at the end numbers agents that run at once`,
  );
  const isBase = value !== undefined && BASE_MARK.test(value);
  return { agentId: isBase ? undefined : value, agentBase: isBase ? withoutBaseMark(value) : undefined };
}

const BASE_MARK = /#$/;

function withoutBaseMark(id: string): string {
  return id.replace(BASE_MARK, '');
}

function isAgentId(value: string): boolean {
  const isName = value !== '' && value.length <= MAX_AGENT_ID_LENGTH && value.isWellFormed() && !/\p{Cc}/u.test(value);
  // A server can be configured by a file of a cloned repository: no agent may pass for a person or for Colibri.
  return isName && value.trim() === value && !isReservedLike(value) && value !== 'unassigned';
}

/** Undefined for `off`. At least a second: agents cannot make calls faster than that to show that they are alive. */
function readClaimTtl(env: Environment): number | undefined {
  const parse = (text: string) => parseDuration(text, MAX_DURATION);
  const isTtl = (text: string) => text === 'off' || parse(text) !== undefined;
  const value = matching(env, 'COLIBRI_CLAIM_TTL', isTtl, `${describeDurations(MAX_DURATION)}, or off`);
  return value === 'off' ? undefined : parse(value ?? '2h');
}

function isTimeout(value: string): boolean {
  return /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 3_600_000;
}

function invalid(name: string, problem: string, advice = `set ${name} to an allowed value, or unset it`): ColibriError {
  const code = name === 'COLIBRI_MODE' ? 'ERR_INVALID_MODE' : 'ERR_CONFIG_INVALID';
  return new ColibriError(code, `${name}: ${problem}`, { variable: name }, { advice });
}
