import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config.ts';

export const LEDGER = join('.colibri', 'colibri.db');

/** The path in the nearest folder above that has the landmark, no higher than the repository around this folder. */
export function findAbove(landmark: string, path: string): string | undefined {
  for (const folder of foldersAbove()) if (existsSync(join(folder, landmark))) return join(folder, path);
  return undefined;
}

/**
 * The configuration of a server. Inside a repository the ledger of a folder above is used, because an agent that was
 * opened in a subfolder would otherwise begin a second record; outside of one nothing says which folders belong together.
 */
export function serverConfig(config: Config): Config {
  const isOpen = config.dbPath === undefined && config.mode !== 'TEST' && isInRepository();
  return isOpen ? { ...config, projectDbPath: findAbove(LEDGER, LEDGER) } : config;
}

function isInRepository(): boolean {
  return foldersAbove().some(isRepository);
}

function isRepository(folder: string): boolean {
  return existsSync(join(folder, '.git'));
}

/** From this folder upwards; what lies above a repository belongs to something else. */
function foldersAbove(): string[] {
  const folders: string[] = [];
  for (let folder = resolve(process.cwd()); ; folder = dirname(folder)) {
    folders.push(folder);
    if (isRepository(folder) || folder === dirname(folder)) return folders;
  }
}
