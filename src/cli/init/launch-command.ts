import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../../integrity/index.ts';
import { readVersion } from '../../version.ts';
import type { Client, LaunchCommand } from './clients.ts';
import { findPackageFolder } from './shipped-skills.ts';

const PACKAGE = 'colibri-mcp';

/** Pins the version that runs now, so that clients do not start a later one unnoticed. */
export function publishedCommand(version: string = readVersion()): LaunchCommand {
  return ['npx', '-y', `${PACKAGE}@${version}`];
}

/** Starts this installation with the Node that runs it: a desktop client may have another PATH than this shell. */
export function localCommand(): LaunchCommand {
  return [process.execPath, join(findPackageFolder(), 'dist', 'colibri.cjs')];
}

/** A program from a clone or an archive may not be in the registry, or differ from the one there. */
export function preferredCommand(): LaunchCommand {
  return isFromRegistry(findPackageFolder(), readVersion()) ? publishedCommand() : localCommand();
}

/** npm records in its hidden lockfile where each package came from. */
export function isFromRegistry(packageFolder: string, version: string): boolean {
  const modules = dirname(packageFolder);
  const lockFile = join(modules, '.package-lock.json');
  if (basename(modules) !== 'node_modules' || !existsSync(lockFile)) return false;
  try {
    const { packages } = parseJson(readFileSync(lockFile, 'utf8')) as {
      packages: Record<string, { resolved?: unknown } | undefined>;
    };
    const resolved = packages[`node_modules/${basename(packageFolder)}`]?.resolved;
    return typeof resolved === 'string' && isRegistryUrl(resolved, version);
  } catch {
    return false;
  }
}

/**
 * Whether the entry equals one that this program writes, with any agent id. Unless `anyVersion` is set, the published
 * command counts only if this program came from the registry: the name may belong to another publisher there.
 */
export function isOwnEntry(client: Client, entry: unknown, { anyVersion }: { anyVersion: boolean }): boolean {
  const { words, variables } = readEntry(entry);
  const [node, program] = localCommand();
  const isPublished = anyVersion
    ? isPublishedCommand(words)
    : isDeepStrictEqual(words, preferredCommand()) && words[0] !== node;
  // Earlier versions wrote "node", and a file that starts the same program.
  const programs = [program, program?.replace(/\.cjs$/, '.js')];
  const isLocal = words.length === 2 && [node, 'node'].includes(words[0] ?? '') && programs.includes(words[1]);
  if (!isPublished && !isLocal) return false;
  const agentId = variables['COLIBRI_AGENT_ID'];
  return startsTheSame(entry, client.entry({ command: words as [string, ...string[]], agentId }));
}

/**
 * Whether two entries start the same program with the same variables, whatever else a client or its user set in them.
 */
export function startsTheSame(entry: unknown, other: unknown): boolean {
  return isDeepStrictEqual(withoutClientSettings(entry), withoutClientSettings(other));
}

/** Whether the entry keeps the client from starting the server. */
export function isSwitchedOff(entry: unknown): boolean {
  const { disabled, enabled } = (entry ?? {}) as Record<string, unknown>;
  return disabled === true || enabled === false;
}

/**
 * What clients store in an entry: which tools need no approval, time limits, the switch. None changes what is started.
 */
const CLIENT_SETTINGS =
  /^(?:alwaysAllow|autoApprove|trust|tools|description|required|disabled|enabled|(?:enabled|disabled|include|exclude)_?tools|(?:\w+_)?timeout(?:_sec|_ms)?)$/i;

function withoutClientSettings(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null) return entry;
  const isEmptyObject = (value: unknown) => isDeepStrictEqual(value, {});
  const members = Object.entries(entry).filter(([name, value]) => {
    if (name === 'type') return !['stdio', 'local'].includes(String(value));
    if (['env', 'environment'].includes(name)) return !isEmptyObject(value);
    return !CLIENT_SETTINGS.test(name);
  });
  return Object.fromEntries(members);
}

/** Settings of Colibri that name no file and no host: an entry that adds them starts the same program. */
export function isSetting(name: string): boolean {
  return /^COLIBRI_[A-Z_]+$/.test(name) && !/_(?:PATH|URL|FILE|DIR)$/.test(name) && name !== 'COLIBRI_AGENT_ID';
}

/** The entry without these variables, in the format of any client. */
export function withoutVariables(entry: unknown, isLeftOut: (name: string) => boolean): unknown {
  if (typeof entry !== 'object' || entry === null) return entry;
  const members = Object.entries(entry).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'transport') return [[name, withoutVariables(value, isLeftOut)]];
    if (!['env', 'environment'].includes(name) || typeof value !== 'object' || value === null) return [[name, value]];
    const kept = Object.entries(value).filter(([variable]) => !isLeftOut(variable));
    return kept.length === 0 && Object.keys(value).length > 0 ? [] : [[name, Object.fromEntries(kept)]];
  });
  return Object.fromEntries(members);
}

/** The command line and the variables of an entry, in the format of any client. */
export function readEntry(entry: unknown): { words: readonly string[]; variables: Readonly<Record<string, string>> } {
  const flat = (entry ?? {}) as Record<string, unknown>;
  // Cline's own command writes them one level down.
  const nested = flat['transport'];
  const { command, args, env, environment } = typeof nested === 'object' ? { ...flat, ...nested } : flat;
  const words = [command, args].flat().filter((word) => typeof word === 'string');
  const named = Object.entries((env ?? environment ?? {}) as Record<string, unknown>);
  const variables = named.filter((variable): variable is [string, string] => typeof variable[1] === 'string');
  return { words, variables: Object.fromEntries(variables) };
}

/** Whether this is the published command of some version. */
function isPublishedCommand(words: readonly string[]): boolean {
  const [command, yes, name, ...rest] = words;
  return command === 'npx' && yes === '-y' && rest.length === 0 && /^colibri-mcp(?:@[\w.+-]+)?$/.test(name ?? '');
}

function isRegistryUrl(url: string, version: string): boolean {
  return /^https?:\/\//.test(url) && url.endsWith(`/${PACKAGE}/-/${PACKAGE}-${version}.tgz`);
}
