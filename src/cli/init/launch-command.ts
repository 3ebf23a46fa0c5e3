import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseJson } from '../../integrity/index.ts';
import { readVersion } from '../../version.ts';
import type { LaunchCommand } from './clients.ts';
import { findPackageFolder } from './shipped-skills.ts';

const PACKAGE = 'colibri-mcp';

/** From the registry, in the version that runs now: what a client starts tomorrow is what was looked at today. */
export function publishedCommand(version: string = readVersion()): LaunchCommand {
  return ['npx', '-y', `${PACKAGE}@${version}`];
}

/** This very program. */
export function localCommand(): LaunchCommand {
  return ['node', join(findPackageFolder(), 'dist', 'colibri.js')];
}

/** A program from a clone or an archive may be in no registry, or be another one there. */
export function preferredCommand(): LaunchCommand {
  return isFromRegistry(findPackageFolder(), readVersion()) ? publishedCommand() : localCommand();
}

/** npm notes where it got each package from; without such a note nothing says that the registry has this program. */
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

/** Whether init wrote these words, in this version or another. */
export function isPublishedCommand(words: readonly string[]): boolean {
  const [command, yes, name, ...rest] = words;
  return command === 'npx' && yes === '-y' && rest.length === 0 && /^colibri-mcp(?:@[\w.+-]+)?$/.test(name ?? '');
}

function isRegistryUrl(url: string, version: string): boolean {
  return /^https?:\/\//.test(url) && url.endsWith(`/${PACKAGE}/-/${PACKAGE}-${version}.tgz`);
}
