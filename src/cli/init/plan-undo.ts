import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SPOOL } from '../../recorder/spool.ts';
import { isReserve } from '../../recorder/spool-reserve.ts';
import type { Client } from './clients.ts';
import { type FileChange, readText } from './disk.ts';
import type { ServerEntry } from './formats/config-format.ts';
import { applyEdits } from './formats/text-edit.ts';
import { findTargets, type HookTarget, targetPath } from './hooks/hook-targets.ts';
import { removeHooks, revert } from './hooks/plan-hooks.ts';
import { InitError } from './init-error.ts';
import { planInstructionsUndo } from './instructions.ts';
import { isOwnEntry } from './launch-command.ts';
import { bodyOf, type ConfigFile, type Plan, readConfigFile, type Site, withByteOrderMark, withPath } from './plan.ts';
import { IGNORE_PATH, IGNORE_TEXT, type InitRecord, RECORD_PATH, readRecord, recordText, sha256 } from './record.ts';

export const SPOOL_PATH = `.colibri/${SPOOL}`;

type RecordedFile = InitRecord['files'][number];

/** Plans what undo reverts: everything in the record, and in other files only an entry that equals its own. */
export function planUndo(site: Site, clients: readonly Client[], isWhole: boolean): Plan {
  const record = readRecord(site.root);
  const notes: string[] = [];
  const whole = site.isGlobal ? 'colibri init --global' : 'colibri init';
  const configs = clients.flatMap((client) => planFiles(site, client, clients, record, notes));
  const shared = isWhole ? planShared(site, record, notes) : [];
  const rest: InitRecord = {
    ...record,
    files: record.files.filter(({ client }) => !clients.some(({ id }) => id === client)),
    ...(isWhole ? { instructions: [], skills: [] } : {}),
  };
  if (!isWhole && configs.length > 0 && (rest.instructions.length > 0 || rest.skills.length > 0))
    notes.push(
      `What all clients share stays: skills, lines for agents, hooks of git. Run ${whole} --undo without a client to remove it.`,
    );
  return {
    // Two clients can share a file.
    changes: [
      ...new Map(configs.map((change) => [change.path, change])).values(),
      ...shared,
      ...planRecord(site, rest),
    ],
    notes: [...new Set(notes)],
    connected: [],
    recording: [],
    emptied: [...record.folders, '.colibri', SPOOL_PATH].toReversed(),
  };
}

/** The files of one client: its servers, and the hooks of the recorder, which can be in the same file. */
function planFiles(
  site: Site,
  client: Client,
  clients: readonly Client[],
  record: InitRecord,
  notes: string[],
): FileChange[] {
  const servers = unlessForeign(record, client, notes, undefined, () => readConfigFile(client, site));
  const hooks = findTargets([client]).map((target) => ({ target, path: targetPath(target, site.isGlobal) }));
  const paths = new Set([...(servers === undefined ? [] : [servers.path]), ...hooks.map(({ path }) => path)]);
  return [...paths].flatMap((path) => {
    const text = readText(site.root, path, site.isGlobal);
    if (text === undefined) return [];
    const recorded = record.files.find((known) => known.path === path);
    const config = servers?.path === path && servers.current !== undefined ? servers : undefined;
    const target = hooks.find((hook) => hook.path === path)?.target;
    if (recorded !== undefined && !clients.some(({ id }) => id === recorded.client)) {
      notes.push(`${client.name}: ${path} was written for ${recorded.client} and is left unchanged`);
      return [];
    }
    if (recorded?.sha256 === sha256(text)) return [{ path, before: text, after: revert(text, recorded) }];
    const rest = unlessForeign(record, client, notes, bodyOf(text), () =>
      withPath(path, () => {
        const withoutEntry = config === undefined ? bodyOf(text) : removeEntry(client, config, recorded, notes);
        return target === undefined
          ? withoutEntry
          : removeHooks(withoutEntry, target, `${client.name}: ${path}`, notes);
      }),
    );
    if (rest === bodyOf(text)) return [];
    const isNeeded = rest !== undefined && !(recorded?.created && isNothing(rest, target));
    return [{ path, before: text, after: isNeeded ? withByteOrderMark(text, rest) : undefined }];
  });
}

/** The text of a file without an entry that equals one of this program. */
function removeEntry(client: Client, file: ConfigFile, recorded: RecordedFile | undefined, notes: string[]): string {
  const { path, text, format, keys, current } = file;
  const body = bodyOf(text);
  if (!isOwnEntry(client, current, { anyVersion: true })) {
    notes.push(`${client.name}: ${path} has a colibri entry that init did not write, which is left unchanged`);
    return body;
  }
  try {
    const edits =
      recorded?.replaced === undefined
        ? format.remove(body, keys, recorded?.nested ?? 0)
        : format.replace(body, keys, recorded.replaced.entry as ServerEntry);
    return applyEdits(body, edits);
  } catch (error) {
    // Written in another form since, as by a formatter.
    if (!(error instanceof InitError)) throw error;
    notes.push(`${client.name}: ${path} ${error.message}; it is left unchanged`);
    return body;
  }
}

/** Whether a file that init created has nothing left that a user could have added. */
function isNothing(rest: string, target: HookTarget | undefined): boolean {
  const text = rest.replaceAll(/\s/g, '');
  return ['', '{}', JSON.stringify(target?.lists?.header ?? {})].includes(text);
}

/** What init wrote for all clients together. */
function planShared(site: Site, record: InitRecord, notes: string[]): FileChange[] {
  return [
    ...record.instructions.flatMap((file) => planInstructionsUndo(site, file, notes) ?? []),
    ...record.skills.flatMap((skill) => planSkill(site, skill, notes) ?? []),
  ];
}

/** A file that cannot be read stops the undo only if init wrote to it. */
function unlessForeign<Result>(
  record: InitRecord,
  client: Client,
  notes: string[],
  otherwise: Result,
  read: () => Result,
): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InitError) || record.files.some((known) => known.client === client.id)) throw error;
    notes.push(`${client.name}: ${error.problem}; init did not write this file, so it is left unchanged`);
    return otherwise;
  }
}

function planSkill(
  { root, isGlobal }: Site,
  { path, sha256: written }: InitRecord['skills'][number],
  notes: string[],
): FileChange | undefined {
  if (!/^\.(?:agents|claude)\/skills\//.test(path)) return undefined;
  const before = readText(root, path, isGlobal);
  if (before === undefined) return undefined;
  if (sha256(before) === written) return { path, before, after: undefined };
  notes.push(`${path} has been modified and is left unchanged`);
  return undefined;
}

function planRecord({ root }: Site, rest: InitRecord): FileChange[] {
  const before = readText(root, RECORD_PATH);
  if (before === undefined) return [];
  if (rest.files.length > 0 || rest.instructions.length > 0 || rest.skills.length > 0)
    return before === recordText(rest) ? [] : [{ path: RECORD_PATH, before, after: recordText(rest) }];
  const isOwn = (name: string) => ['.gitignore', 'init.json'].includes(name);
  const isEmptySpool = (name: string) => name === SPOOL && listFolder(join(root, SPOOL_PATH)).every(isReserve);
  const isOurFolder = listFolder(join(root, '.colibri')).every((name) => isOwn(name) || isEmptySpool(name));
  const ignore = readText(root, IGNORE_PATH);
  return [
    { path: RECORD_PATH, before, after: undefined },
    ...(isOurFolder && ignore === IGNORE_TEXT ? [{ path: IGNORE_PATH, before: ignore, after: undefined }] : []),
  ];
}

function listFolder(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
