import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { findMainWorkTree, findUnprovenRepository, hasUnknownWorkTree } from '../git/main-work-tree.ts';

export const LEDGER = join('.colibri', 'colibri.db');

/** Returns the path below the nearest folder above that contains the landmark, no higher than the repository. */
export function findAbove(landmark: string, path: string, from = process.cwd()): string | undefined {
  for (const folder of searchedFolders(from)) if (existsSync(join(folder, landmark))) return join(folder, path);
  return undefined;
}

/**
 * The configuration of a server. One repository has one ledger: agents that are opened in a subfolder or in a linked
 * work tree write to the same one. Outside of a repository nothing says which folders belong together.
 */
export function serverConfig(config: Config): Config {
  const skillsPath = resolve(findWorkTree() ?? '', config.skillsPath);
  const isOpen = config.dbPath === undefined && config.mode !== 'TEST';
  const root = isOpen ? findRepository() : undefined;
  if (root === undefined) return { ...config, skillsPath };
  return { ...config, skillsPath, projectDbPath: findAbove(LEDGER, LEDGER) ?? join(root, LEDGER) };
}

/** The root of the enclosing work tree. */
export function findWorkTree(): string | undefined {
  const top = foldersAbove().at(-1) as string;
  return existsSync(join(top, '.git')) ? top : undefined;
}

/** The folder whose ledger a repository uses: the main work tree, also for a folder in a linked one. */
function findRepository(): string | undefined {
  return findWorkTree() === undefined ? undefined : searchedFolders().at(-1);
}

export interface LinkedWorkTree {
  readonly root: string;
  /** The main work tree or, if git does not record where it is, the folder of the repository. */
  readonly main: string;
}

/** Whether the main work tree has another ledger than the linked ones, because git does not record where it is. */
export function isMainUnknown({ main }: LinkedWorkTree): boolean {
  return !existsSync(join(main, '.git')) && hasUnknownWorkTree(main);
}

/** The repository whose linked work trees have another ledger than this work tree, because git does not record it. */
export function findUnlinkedRepository(from = process.cwd()): string | undefined {
  return findUnprovenRepository(foldersAbove(from).at(-1) as string);
}

/** Set when this folder is in a linked work tree, which uses the ledger of the main one. */
export function linkedWorkTree(from = process.cwd()): LinkedWorkTree | undefined {
  const root = foldersAbove(from).at(-1) as string;
  const main = findMainWorkTree(root);
  return main === undefined ? undefined : { root, main };
}

type ChosenLedger = Partial<Pick<Config, 'databaseUrl' | 'dbPath' | 'projectDbPath'>>;

export interface SharedLedger {
  /** The folder that the ledger belongs to. */
  readonly folder: string;
  /** Why this folder has none of its own. */
  readonly reason: string;
}

/** Set when a ledger that no setting names belongs to another folder than this one. */
export function findSharedLedger({ databaseUrl, dbPath, projectDbPath }: ChosenLedger): SharedLedger | undefined {
  if (databaseUrl !== undefined || dbPath !== undefined) return undefined;
  const linked = linkedWorkTree();
  if (linked !== undefined) return { folder: linked.main, reason: `${linked.root} is a git worktree of it` };
  const folder = projectDbPath === undefined ? process.cwd() : dirname(dirname(resolve(projectDbPath)));
  return folder === process.cwd() ? undefined : { folder, reason: `${process.cwd()} is inside it` };
}

/** Why a server uses the ledger that it uses, for its log. */
export function explainLedger(config: ChosenLedger & Pick<Config, 'mode'>): string {
  if (config.databaseUrl !== undefined) return 'COLIBRI_DATABASE_URL is set';
  if (config.dbPath !== undefined) return 'COLIBRI_DB_PATH is set';
  if (config.mode === 'TEST') return 'COLIBRI_MODE is TEST';
  const shared = findSharedLedger(config);
  return shared === undefined ? 'the server was started in its folder' : `ledger of ${shared.folder}: ${shared.reason}`;
}

/**
 * From this folder upwards to the top of the repository; inside a linked work tree the same folders of the main one.
 */
function searchedFolders(from = process.cwd()): string[] {
  const linked = linkedWorkTree(from);
  const folders = foldersAbove(from);
  return linked === undefined ? folders : folders.map((folder) => join(linked.main, relative(linked.root, folder)));
}

/** What lies above a repository belongs to something else. */
export function foldersAbove(from = process.cwd()): string[] {
  const folders: string[] = [];
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, '.git')) || folder === dirname(folder)) return folders;
  }
}
