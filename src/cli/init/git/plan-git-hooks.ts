import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { LaunchCommand } from '../clients.ts';
import { type FileChange, readText } from '../disk.ts';
import { InitError } from '../init-error.ts';
import type { Plan } from '../plan.ts';
import {
  addBlock,
  createdText,
  GIT_HOOKS,
  type GitHook,
  hasBlock,
  isShellScript,
  LAUNCHER_PATH,
  launcherText,
  removeBlock,
  savedPath,
  wrapperText,
} from './hook-script.ts';
import { findHooksFolder, findProblem } from './hooks-folder.ts';
import { INSTALLED_PATH, type Installed, installedText, listOthers, parseInstalled } from './installed-hooks.ts';

/** What init does with the hooks of git. */
export type GitPlan = Pick<Plan, 'changes' | 'notes' | 'emptied'>;

const EXECUTABLE = 0o755;
const NOTHING: GitPlan = { changes: [], notes: [], emptied: [] };

/**
 * Plans the hooks that record commits. Hooks that are there stay and run after them. `joins`: the project needs them.
 */
export async function planGitHooks(root: string, command: LaunchCommand, joins: boolean): Promise<GitPlan> {
  const found = await findHooksFolder(root);
  if ('refused' in found) return { ...NOTHING, notes: [`git: ${found.refused}; commits are not recorded`] };
  const notes: string[] = [];
  const launcher = pathFrom(root, join(found.common, LAUNCHER_PATH));
  const before = readText(root, launcher, true);
  const after = launcherText(command);
  const { installed, changeTo } = readInstalled(root, found.common);
  const created = new Map(installed.hooks.map((hook) => [hook.path, hook.created]));
  const hooks = GIT_HOOKS.flatMap((hook) => {
    const file = join(found.folder, hook);
    const path = pathFrom(root, file);
    const isCreated = wasCreated(readHook(root, path, []), before !== undefined);
    if (isCreated !== undefined) created.set(pathFrom(found.common, file), isCreated);
    return planHook(root, path, hook, notes);
  });
  const start = before === after ? [] : [change(launcher, before, after)];
  const projects = new Set([...installed.projects, ...(joins ? [pathFrom(found.common, realpathSync(root))] : [])]);
  const record = changeTo({
    v: 1,
    projects: [...projects],
    hooks: [...created].map(([path, isCreated]) => ({ path, created: isCreated })),
  });
  return { ...NOTHING, changes: [...start, ...record, ...hooks], notes };
}

/** Whether init creates this hook; undefined if an earlier init has changed it. */
function wasCreated(text: string | undefined | null, hasLauncher: boolean): boolean | undefined {
  if (text === undefined) return true;
  // Lines that were there before the program came with a clone, in a file of the project.
  return text !== null && hasBlock(text) && hasLauncher ? undefined : false;
}

/** Plans the reverse: what is left of a hook is what was there before, to the byte. */
export async function planGitHooksUndo(root: string): Promise<GitPlan> {
  const found = await findHooksFolder(root);
  const repository = 'refused' in found ? found.repository : found;
  if (repository === undefined) return NOTHING;
  const { common } = repository;
  const { installed, changeTo } = readInstalled(root, common);
  const others = listOthers(installed, common, pathFrom(common, realpathSync(root)));
  if (others.length > 0) {
    const names = others.map((project) => pathFrom(repository.top, join(common, project)) || '.').join(', ');
    const note = `git: the hooks stay, because they record commits for ${names}, too`;
    return { ...NOTHING, changes: changeTo({ ...installed, projects: others }), notes: [note] };
  }
  const notes: string[] = [];
  const launcher = pathFrom(root, join(common, LAUNCHER_PATH));
  const text = readText(root, launcher, true);
  // Where they were installed: core.hooksPath may have been changed since.
  const places = new Set([
    ...('folder' in found ? [found.folder] : []),
    join(common, 'hooks'),
    ...installed.hooks.map(({ path }) => dirname(join(common, path))),
  ]);
  const usable = [...places].filter((folder) => findProblem(folder, repository) === undefined);
  const hooks = usable.flatMap((folder) =>
    GIT_HOOKS.flatMap((hook) => {
      const file = join(folder, hook);
      const known = installed.hooks.find(({ path }) => path === pathFrom(common, file));
      // Earlier versions did not remember it.
      return planHookUndo(root, pathFrom(root, file), hook, { notes, isCreated: known?.created ?? true });
    }),
  );
  const record = changeTo({ v: 1, projects: [], hooks: [] });
  const changes = [...hooks, ...(text === undefined ? [] : [change(launcher, text, undefined)]), ...record];
  const folders = [join(common, LAUNCHER_PATH, '..'), join(common, 'hooks')];
  return { changes, notes, emptied: changes.length === 0 ? [] : folders.map((folder) => pathFrom(root, folder)) };
}

/** The hooks of a repository after `init --record`. */
interface GitHooks {
  readonly launcher: string;
  readonly launches: (command: LaunchCommand) => boolean;
  readonly recording: readonly GitHook[];
  readonly missing: readonly GitHook[];
}

/** Undefined if the hooks were not installed here. */
export async function readGitHooks(root: string): Promise<GitHooks | undefined> {
  const found = await findHooksFolder(root);
  const repository = 'refused' in found ? found.repository : found;
  if (repository === undefined) return undefined;
  const launcher = pathFrom(root, join(repository.common, LAUNCHER_PATH));
  const text = readText(root, launcher, true);
  if (text === undefined) return undefined;
  const isRecording = (hook: GitHook) =>
    'folder' in found && hasBlock(readHook(root, pathFrom(root, join(found.folder, hook)), []) ?? '');
  return {
    launcher,
    launches: (command) => launcherText(command) === text,
    recording: GIT_HOOKS.filter(isRecording),
    missing: GIT_HOOKS.filter((hook) => !isRecording(hook)),
  };
}

function planHook(root: string, path: string, hook: GitHook, notes: string[]): FileChange[] {
  const text = readHook(root, path, notes);
  if (text === null) return [];
  if (text === undefined) return [change(path, undefined, createdText(hook))];
  if (hasBlock(text)) return planUpdate(root, path, hook, text, notes);
  if (/\blefthook\b/.test(text))
    notes.push(`git: ${path}: lefthook install writes this hook again; run colibri init --record after it`);
  if (isShellScript(text)) return [change(path, text, addBlock(text, hook))];
  const saved = savedPath(path);
  if (readText(root, saved, true) !== undefined) {
    notes.push(`git: ${saved} already exists; ${path} is left unchanged`);
    return [];
  }
  return [change(saved, undefined, text), change(path, text, wrapperText(hook))];
}

/** Lines of an earlier version are replaced. */
function planUpdate(root: string, path: string, hook: GitHook, text: string, notes: string[]): FileChange[] {
  const original = removeBlock(text);
  if (original === undefined) {
    notes.push(`git: ${path}: the lines of Colibri have been modified and are left unchanged`);
    return [];
  }
  const isWrapper = readText(root, savedPath(path), true) !== undefined;
  const after = isWrapper ? wrapperText(hook) : addBlock(original, hook);
  return after === text ? [] : [change(path, text, after)];
}

interface UndoOptions {
  readonly notes: string[];
  readonly isCreated: boolean;
}

function planHookUndo(root: string, path: string, hook: GitHook, { notes, isCreated }: UndoOptions): FileChange[] {
  const text = readHook(root, path, []);
  if (text === undefined || text === null || !hasBlock(text)) return [];
  const saved = savedPath(path);
  const moved = readText(root, saved, true);
  const rest = removeBlock(text);
  const added = (whole: string) => removeBlock(whole);
  if (moved !== undefined && rest === added(wrapperText(hook)))
    return [change(path, text, moved), change(saved, moved, undefined)];
  if (isCreated && rest === added(createdText(hook))) return [change(path, text, undefined)];
  if (rest !== undefined) return [change(path, text, rest)];
  notes.push(`git: ${path}: the lines of Colibri have been modified and are left unchanged`);
  return [];
}

/** Undefined if there is no hook; null if it must not be changed, with a note. */
function readHook(root: string, path: string, notes: string[]): string | undefined | null {
  const skip = (problem: string) => {
    notes.push(`git: ${path} ${problem} and is left unchanged; it does not record commits`);
    return null;
  };
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) return skip(stats.isSymbolicLink() ? 'is a symbolic link' : 'is not a regular file');
  const isHuskyScript = path.split('/').includes('.husky');
  if (process.platform !== 'win32' && (stats.mode & 0o100) === 0 && !isHuskyScript) return skip('is not executable');
  try {
    return readText(root, path, true);
  } catch (error) {
    if (!(error instanceof InitError)) throw error;
    return skip('is not a text in UTF-8');
  }
}

/** What init did to the hooks, and the change of its record. */
function readInstalled(root: string, common: string) {
  const path = pathFrom(root, join(common, INSTALLED_PATH));
  const before = readText(root, path, true);
  const changeTo = (installed: Installed): FileChange[] => {
    const after = installedText(installed);
    return after === before ? [] : [{ path, before, after, mayLeave: true }];
  };
  return { installed: parseInstalled(before, path), changeTo };
}

function change(path: string, before: string | undefined, after: string | undefined): FileChange {
  return { path, before, after, mode: EXECUTABLE, mayLeave: true };
}

function pathFrom(root: string, path: string): string {
  return relative(root, path).split(sep).join('/');
}
