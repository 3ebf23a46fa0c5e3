import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { LaunchCommand } from '../clients.ts';
import { type FileChange, readText } from '../disk.ts';
import { applyEdits, diffEdits } from '../formats/text-edit.ts';
import { localCommand, preferredCommand, publishedCommand } from '../launch-command.ts';
import { bodyOf, type Site, withByteOrderMark, withPath } from '../plan.ts';
import { type InitRecord, sha256 } from '../record.ts';
import { findPackageFolder } from '../shipped-skills.ts';
import { type FoundHook, findHooks, withHooks, withoutHooks } from './hook-file.ts';
import { type HookLists, type HookTarget, targetPath } from './hook-targets.ts';

type RecordedFile = InitRecord['files'][number];

export interface PlannedFile {
  readonly change: FileChange;
  readonly recorded: RecordedFile;
}

export interface HookOptions {
  /** The client that a new file is recorded for; several can read one. */
  readonly client: string;
  readonly command: LaunchCommand;
  readonly replace: boolean;
  /** Register hooks; without it, only those that are there already are kept up to date. */
  readonly isWanted: boolean;
}

export interface PlannedHooks {
  /** Undefined if the file stays as it is. */
  readonly file: PlannedFile | undefined;
  /** Whether its clients report to Colibri after the change. */
  readonly isRecording: boolean;
  readonly note?: string;
}

/**
 * Plans the hooks of one file. `planned` is what init does to the same file otherwise, because some clients have
 * servers and hooks in one.
 */
export function planHooks(
  site: Site,
  target: HookTarget,
  { planned, known }: { planned: PlannedFile | undefined; known: RecordedFile | undefined },
  options: HookOptions,
): PlannedHooks {
  const path = targetPath(target, site.isGlobal);
  const disk = readText(site.root, path, site.isGlobal);
  return withPath(path, () => {
    const { ours, foreign } = readHooks(target.lists, disk, known);
    if (!options.isWanted && ours.length === 0) return { file: undefined, isRecording: foreign.length > 0 };
    if (foreign.length > 0 && !options.replace)
      return { file: undefined, isRecording: true, note: `${path} has ${FOREIGN}; use --replace to replace it` };
    // Setting up the server again starts from the text before init, without the hooks.
    const text = planned === undefined ? disk : planned.change.after;
    const after = write(target.lists, text, options.command);
    if (after === text) return { file: undefined, isRecording: true };
    const recorded = planned?.recorded ?? known;
    const original = findOriginal(target.lists, text, recorded);
    const file = {
      change: { path, before: disk, after },
      recorded: {
        ...(recorded ?? { path, client: options.client, nested: 0 }),
        created: original === undefined,
        sha256: sha256(after),
        undo: diffEdits(bodyOf(after), bodyOf(original)),
      },
    };
    return { file, isRecording: true };
  });
}

/** The text without our hooks; undefined for a plug-in, which goes as a whole. */
export function removeHooks(body: string, { lists }: HookTarget, place: string, notes: string[]): string | undefined {
  const hooks = findAll(lists, body);
  if (hooks.some(({ isOwn }) => !isOwn)) notes.push(`${place} has ${FOREIGN}`);
  if (lists !== undefined) return withoutHooks(body, ({ isOwn }) => isOwn, lists);
  return hooks.every(({ isOwn }) => isOwn) ? undefined : body;
}

const FOREIGN = 'a hook of Colibri that init did not write, which is left unchanged';

/** The plug-in of opencode, which starts this command. */
function pluginText(command: LaunchCommand): string {
  const template = readFileSync(join(findPackageFolder(), 'dist', 'opencode-plugin.js'), 'utf8');
  return template.replace("const COMMAND = ['colibri'];", () => `const COMMAND = ${JSON.stringify(command)};`);
}

/** The text before init; undefined if there was no file. */
export function revert(text: string, { created, undo }: RecordedFile): string | undefined {
  return created ? undefined : withByteOrderMark(text, applyEdits(bodyOf(text), undo));
}

/**
 * The hooks of Colibri in a file: those that this program or, according to the record, an earlier one wrote, and
 * others.
 */
function readHooks(lists: HookLists | undefined, text: string | undefined, known: RecordedFile | undefined) {
  const hooks = findAll(lists, text);
  const isUntouched = text !== undefined && known?.sha256 === sha256(text);
  const earlier = isUntouched ? findAll(lists, revert(text, known)) : hooks;
  const isOurs = ({ event, item, isOwn }: FoundHook) =>
    isOwn || !earlier.some((other) => other.event === event && isDeepStrictEqual(other.item, item));
  return { ours: hooks.filter(isOurs), foreign: hooks.filter((hook) => !isOurs(hook)) };
}

/** A plug-in is one hook. */
function findAll(lists: HookLists | undefined, text: string | undefined): FoundHook[] {
  if (text === undefined) return [];
  if (lists !== undefined) return findHooks(bodyOf(text), lists);
  return [{ event: '', item: text, isOwn: isOwnPlugin(text), isShared: false }];
}

function isOwnPlugin(text: string): boolean {
  return findPluginCommand(text) !== undefined;
}

/** The command that a plug-in of this program starts; undefined for any other text. */
export function findPluginCommand(text: string): LaunchCommand | undefined {
  return [localCommand(), preferredCommand(), publishedCommand()].find((command) => text === pluginText(command));
}

function write(lists: HookLists | undefined, text: string | undefined, command: LaunchCommand): string {
  if (lists === undefined) return pluginText(command);
  return withByteOrderMark(text, withHooks(bodyOf(text), lists, command));
}

/** What undo restores: the text before init or, if others have changed it since, the text without our hooks. */
function findOriginal(lists: HookLists | undefined, text: string | undefined, recorded: RecordedFile | undefined) {
  if (text === undefined) return undefined;
  const isUntouched = recorded?.sha256 === sha256(text);
  const original = isUntouched ? revert(text, recorded) : text;
  if (original === undefined || lists === undefined) return original;
  return withByteOrderMark(
    original,
    withoutHooks(bodyOf(original), ({ isOwn }) => isOwn, lists),
  );
}
