import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from './clients.ts';
import { type FileChange, readText } from './disk.ts';
import type { ServerEntry } from './formats/config-format.ts';
import { applyEdits } from './formats/text-edit.ts';
import { InitError } from './init-error.ts';
import { planInstructionsUndo } from './instructions.ts';
import { isOwnEntry } from './launch-command.ts';
import { bodyOf, type Plan, readConfigFile, type Site, withByteOrderMark, withPath } from './plan.ts';
import { IGNORE_PATH, IGNORE_TEXT, type InitRecord, RECORD_PATH, readRecord, recordText, sha256 } from './record.ts';

/** Plans what undo reverts: everything in the record, and in other files only an entry that equals its own. */
export function planUndo(site: Site, clients: readonly Client[], isWhole: boolean): Plan {
  const record = readRecord(site.root);
  const notes: string[] = [];
  const configs = clients.flatMap((client) => planConfig(site, client, clients, record, notes) ?? []);
  const shared = isWhole ? planShared(site, record, notes) : [];
  const rest: InitRecord = {
    ...record,
    files: record.files.filter(({ client }) => !clients.some(({ id }) => id === client)),
    ...(isWhole ? { instructions: [], skills: [] } : {}),
  };
  return {
    // Two clients can share a file.
    changes: [
      ...new Map(configs.map((change) => [change.path, change])).values(),
      ...shared,
      ...planRecord(site, rest),
    ],
    notes: [...new Set(notes)],
    connected: [],
    emptied: [...record.folders, '.colibri'].toReversed(),
  };
}

function planConfig(
  site: Site,
  client: Client,
  clients: readonly Client[],
  record: InitRecord,
  notes: string[],
): FileChange | undefined {
  const file = readUnlessForeign(site, client, record, notes);
  if (file?.text === undefined || file.current === undefined) return undefined;
  const { path, text, format, keys, current } = file;
  const recorded = record.files.find((known) => known.path === path);
  if (recorded !== undefined && !clients.some(({ id }) => id === recorded.client)) {
    notes.push(`${client.name}: ${path} was written for ${recorded.client} and is left unchanged`);
    return undefined;
  }
  if (recorded?.sha256 === sha256(text)) {
    const after = recorded.created ? undefined : withByteOrderMark(text, applyEdits(bodyOf(text), recorded.undo));
    return { path, before: text, after };
  }
  if (!isOwnEntry(client, current, { anyVersion: true })) {
    notes.push(`${client.name}: ${path} has a colibri entry that init did not write, which is left unchanged`);
    return undefined;
  }
  return withPath(path, () => {
    const body = bodyOf(text);
    const edits =
      recorded?.replaced === undefined
        ? format.remove(body, keys, recorded?.nested ?? 0)
        : format.replace(body, keys, recorded.replaced.entry as ServerEntry);
    const rest = applyEdits(body, edits);
    const isNothing = /^\s*(?:\{\s*\}\s*)?$/.test(rest);
    return { path, before: text, after: recorded?.created && isNothing ? undefined : withByteOrderMark(text, rest) };
  });
}

/** What init wrote for all clients together. */
function planShared(site: Site, record: InitRecord, notes: string[]): FileChange[] {
  return [
    ...record.instructions.flatMap((file) => planInstructionsUndo(site, file, notes) ?? []),
    ...record.skills.flatMap((skill) => planSkill(site, skill, notes) ?? []),
  ];
}

/** A file that cannot be read stops the undo only if init wrote to it. */
function readUnlessForeign(site: Site, client: Client, record: InitRecord, notes: string[]) {
  try {
    return readConfigFile(client, site);
  } catch (error) {
    if (!(error instanceof InitError) || record.files.some((known) => known.client === client.id)) throw error;
    notes.push(`${client.name}: ${error.problem}; init did not write this file, so it is left unchanged`);
    return undefined;
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
  const isOurFolder = listFolder(join(root, '.colibri')).every((name) => ['.gitignore', 'init.json'].includes(name));
  const ignore = readText(root, IGNORE_PATH);
  return [
    { path: RECORD_PATH, before, after: undefined },
    ...(isOurFolder && ignore === IGNORE_TEXT ? [{ path: IGNORE_PATH, before: ignore, after: undefined }] : []),
  ];
}

function listFolder(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
