import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseJson } from '../../integrity/index.ts';
import { readVersion } from '../../version.ts';
import type { LaunchCommand } from './clients.ts';
import { findPackageFolder } from './shipped-skills.ts';

const PACKAGE = 'colibri-mcp';

/** Pins the version that runs now, so that clients do not start a later one unnoticed. */
export function publishedCommand(version: string = readVersion()): LaunchCommand {
  return ['npx', '-y', `${PACKAGE}@${version}`];
}

/** Starts this installation. */
export function localCommand(): LaunchCommand {
  return ['node', join(findPackageFolder(), 'dist', 'colibri.js')];
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

/** Whether this is the published command of some version. */
export function isPublishedCommand(words: readonly string[]): boolean {
  const [command, yes, name, ...rest] = words;
  return command === 'npx' && yes === '-y' && rest.length === 0 && /^colibri-mcp(?:@[\w.+-]+)?$/.test(name ?? '');
}

function isRegistryUrl(url: string, version: string): boolean {
  return /^https?:\/\//.test(url) && url.endsWith(`/${PACKAGE}/-/${PACKAGE}-${version}.tgz`);
}
