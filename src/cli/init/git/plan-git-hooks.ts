import { lstatSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
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
import { findHooksFolder } from './hooks-folder.ts';

/** What init does with the hooks of git. */
export type GitPlan = Pick<Plan, 'changes' | 'notes' | 'emptied'>;

const EXECUTABLE = 0o755;
const NOTHING: GitPlan = { changes: [], notes: [], emptied: [] };

/** Plans the hooks that record commits. Hooks that are there stay and run after them. */
export async function planGitHooks(root: string, command: LaunchCommand): Promise<GitPlan> {
  const found = await findHooksFolder(root);
  if ('refused' in found) return { ...NOTHING, notes: [`git: ${found.refused}; commits are not recorded`] };
  const notes: string[] = [];
  const launcher = pathFrom(root, join(found.common, LAUNCHER_PATH));
  const before = readText(root, launcher, true);
  const after = launcherText(command);
  const hooks = GIT_HOOKS.flatMap((hook) => planHook(root, pathFrom(root, join(found.folder, hook)), hook, notes));
  const start = before === after ? [] : [change(launcher, before, after)];
  return { ...NOTHING, changes: [...start, ...hooks], notes };
}

/** Plans the reverse: what is left of a hook is what was there before, to the byte. */
export async function planGitHooksUndo(root: string): Promise<GitPlan> {
  const found = await findHooksFolder(root);
  if ('refused' in found) return NOTHING;
  const notes: string[] = [];
  const launcher = pathFrom(root, join(found.common, LAUNCHER_PATH));
  const text = readText(root, launcher, true);
  const hooks = GIT_HOOKS.flatMap((hook) => planHookUndo(root, pathFrom(root, join(found.folder, hook)), hook, notes));
  const changes = [...hooks, ...(text === undefined ? [] : [change(launcher, text, undefined)])];
  const folders = [join(found.common, LAUNCHER_PATH, '..'), join(found.common, 'hooks')];
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
  if ('refused' in found) return undefined;
  const launcher = pathFrom(root, join(found.common, LAUNCHER_PATH));
  const text = readText(root, launcher, true);
  if (text === undefined) return undefined;
  const isRecording = (hook: GitHook) => hasBlock(readHook(root, pathFrom(root, join(found.folder, hook)), []) ?? '');
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
    notes.push(`git: ${saved} is in the way; ${path} is left unchanged`);
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

function planHookUndo(root: string, path: string, hook: GitHook, notes: string[]): FileChange[] {
  const text = readHook(root, path, []);
  if (text === undefined || text === null || !hasBlock(text)) return [];
  const saved = savedPath(path);
  const moved = readText(root, saved, true);
  const rest = removeBlock(text);
  const added = (whole: string) => removeBlock(whole);
  if (moved !== undefined && rest === added(wrapperText(hook)))
    return [change(path, text, moved), change(saved, moved, undefined)];
  if (rest === added(createdText(hook))) return [change(path, text, undefined)];
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
  if (!stats.isFile()) return skip(stats.isSymbolicLink() ? 'is a symbolic link' : 'is no file');
  const isHuskyScript = path.split('/').includes('.husky');
  if (process.platform !== 'win32' && (stats.mode & 0o100) === 0 && !isHuskyScript) return skip('is not executable');
  try {
    return readText(root, path, true);
  } catch (error) {
    if (!(error instanceof InitError)) throw error;
    return skip('is not a text in UTF-8');
  }
}

function change(path: string, before: string | undefined, after: string | undefined): FileChange {
  return { path, before, after, mode: EXECUTABLE, mayLeave: true };
}

function pathFrom(root: string, path: string): string {
  return relative(root, path).split(sep).join('/');
}
