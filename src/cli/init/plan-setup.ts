import { isDeepStrictEqual } from 'node:util';
import type { Client, LaunchCommand } from './clients.ts';
import { type FileChange, listMissingFolders, readText } from './disk.ts';
import { applyEdits, invertEdits } from './formats/text-edit.ts';
import { bodyOf, type Plan, readConfigFile, type Site, withByteOrderMark, withPath } from './plan.ts';
import { IGNORE_PATH, IGNORE_TEXT, type InitRecord, RECORD_PATH, readRecord, recordText, sha256 } from './record.ts';
import type { SkillText } from './shipped-skills.ts';

/** Plans what init writes. Reads every file first: one that cannot be edited safely stops the whole command. */
export function planSetup(
  site: Site,
  clients: readonly Client[],
  command: LaunchCommand,
  skills: readonly SkillText[],
): Plan {
  const record = readRecord(site.root);
  const notes: string[] = [];
  const configs = clients.flatMap((client) => planConfig(site, client, command, notes) ?? []);
  const copies = skillFolders(clients).flatMap((folder) =>
    skills.flatMap((skill) => planSkill(site, record, `${folder}/${skill.path}`, skill.text, notes) ?? []),
  );
  const changes = [...configs.map(({ change }) => change), ...copies];
  if (changes.length === 0) return { changes, notes, emptied: [] };

  const files = [
    ...record.files.filter(({ path }) => !configs.some(({ change }) => change.path === path)),
    ...configs.map(({ recorded }) => recorded),
  ];
  const copied = [
    ...record.skills.filter(({ path }) => !copies.some((copy) => copy.path === path)),
    ...copies.map(({ path, after }) => ({ path, sha256: sha256(after ?? '') })),
  ];
  const folders = [...record.folders, ...changes.flatMap(({ path }) => listMissingFolders(site.root, path))];
  const next: InitRecord = { v: 1, files, skills: copied, folders: [...new Set(folders)] };
  // The record is written first, so that everything after it can be undone.
  return { changes: [...planRecord(site, next), ...changes], notes, emptied: [] };
}

function planConfig(site: Site, client: Client, command: LaunchCommand, notes: string[]) {
  const file = readConfigFile(client, site);
  if (file === undefined) {
    const scope = site.isGlobal ? 'user-wide' : 'project-wide';
    notes.push(`${client.name} has no ${scope} configuration file${site.isGlobal ? '' : '; use --global'}`);
    return undefined;
  }
  const { path, text, format, keys, current } = file;
  const entry = client.entry(command);
  if (current !== undefined) {
    const isOurs = isDeepStrictEqual(current, entry);
    notes.push(
      `${client.name}: ${path} ${isOurs ? 'is already set up' : 'has another colibri entry, which is left unchanged'}`,
    );
    return undefined;
  }
  return withPath(path, () => {
    const body = bodyOf(text);
    const edits = format.add(body, keys, entry);
    const after = withByteOrderMark(text, applyEdits(body, edits));
    return {
      change: { path, before: text, after },
      recorded: {
        path,
        client: client.id,
        created: text === undefined,
        nested: keys.filter((_key, index) => index > 0 && format.find(body, keys.slice(0, index)) === undefined).length,
        sha256: sha256(after),
        undo: invertEdits(body, edits),
      },
    };
  });
}

/** The folders where agents look for skills; Claude Code has its own. */
function skillFolders(clients: readonly Client[]): string[] {
  const hasClaude = clients.some(({ id }) => id === 'claude-code');
  return ['.agents/skills', ...(hasClaude ? ['.claude/skills'] : [])];
}

function planSkill(
  { root, isGlobal }: Site,
  record: InitRecord,
  path: string,
  text: string,
  notes: string[],
): FileChange | undefined {
  const before = readText(root, path, isGlobal);
  if (before === text) return undefined;
  const recorded = record.skills.find((skill) => skill.path === path);
  // An unmodified copy is updated to the version of the program.
  if (before === undefined || recorded?.sha256 === sha256(before)) return { path, before, after: text };
  notes.push(`${path} has been modified and is left unchanged`);
  return undefined;
}

function planRecord({ root }: Site, record: InitRecord): FileChange[] {
  const ignore = readText(root, IGNORE_PATH);
  return [
    ...(ignore === undefined ? [{ path: IGNORE_PATH, before: undefined, after: IGNORE_TEXT }] : []),
    { path: RECORD_PATH, before: readText(root, RECORD_PATH), after: recordText(record) },
  ];
}
