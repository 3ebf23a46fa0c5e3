import { LEDGER } from '../../db/locate.ts';
import { findHomeFolder } from '../../home-folder.ts';
import type { Client, LaunchCommand } from './clients.ts';
import { type FileChange, listMissingFolders, readText } from './disk.ts';
import type { ServerEntry } from './formats/config-format.ts';
import { applyEdits, invertEdits, type TextEdit } from './formats/text-edit.ts';
import { findTargets, type HookTarget, targetPath } from './hooks/hook-targets.ts';
import { findOffSwitch } from './hooks/off-switch.ts';
import { findOtherLedger } from './hooks/other-ledger.ts';
import { type PlannedFile, planHooks } from './hooks/plan-hooks.ts';
import { planInstructions } from './instructions.ts';
import { isOwnEntry, isSwitchedOff, readEntry, startsTheSame, withoutVariables } from './launch-command.ts';
import {
  bodyOf,
  type ConfigFile,
  type Plan,
  type RecordingClient,
  readConfigFile,
  type Site,
  withByteOrderMark,
  withPath,
} from './plan.ts';
import { IGNORE_PATH, IGNORE_TEXT, type InitRecord, RECORD_PATH, readRecord, recordText, sha256 } from './record.ts';
import type { SkillText } from './shipped-skills.ts';

export interface SetupOptions {
  readonly clients: readonly Client[];
  readonly command: LaunchCommand;
  readonly skills: readonly SkillText[];
  /** Replace entries that init did not write. */
  readonly replace: boolean;
  /** Give the server of each client its id as COLIBRI_AGENT_ID, numbered if several run at once. */
  readonly agentIds: boolean;
  /** Write the lines for agents. */
  readonly instructions: boolean;
  /** Register the hooks of the recorder. */
  readonly record: boolean;
}

type RecordedFile = InitRecord['files'][number];

/** Plans what init writes. Reads every file first: one that cannot be edited safely stops the whole command. */
export function planSetup(site: Site, options: SetupOptions): Plan {
  const { clients, skills } = options;
  const record = readRecord(site.root);
  const notes: string[] = [];
  const connected: Client[] = [];
  const servers = groupByFile(site, clients, notes).flatMap(
    (group) => planConfig(group, record, options, { notes, connected }) ?? [],
  );
  const { configs, recording } = planRecording(site, servers, record, options, notes);
  const instructions = options.instructions ? planInstructions(site, clients) : [];
  const copies = skillFolders(clients).flatMap((folder) =>
    skills.flatMap((skill) => planSkill(site, record, `${folder}/${skill.path}`, skill.text, notes) ?? []),
  );
  const changes = [...configs, ...instructions].map(({ change }) => change).concat(copies);
  if (changes.length === 0) return { changes, notes, connected, recording, emptied: [] };

  const isChanged = ({ path }: { path: string }) => changes.some((change) => change.path === path);
  const next: InitRecord = {
    v: 1,
    files: [...record.files.filter((file) => !isChanged(file)), ...configs.map(({ recorded }) => recorded)],
    instructions: [
      ...record.instructions.filter((file) => !isChanged(file)),
      ...instructions.map(({ recorded }) => recorded),
    ],
    skills: [
      ...record.skills.filter((skill) => !isChanged(skill)),
      ...copies.map(({ path, after }) => ({ path, sha256: sha256(after ?? '') })),
    ],
    folders: [...new Set([...record.folders, ...changes.flatMap(({ path }) => listMissingFolders(site.root, path))])],
  };
  // The record is written first, so that everything after it can be undone.
  return { changes: [...planRecord(site, next), ...changes], notes, connected, recording, emptied: [] };
}

/** Adds the hooks of the recorder to the planned files. */
function planRecording(
  site: Site,
  servers: readonly PlannedFile[],
  record: InitRecord,
  { clients, command, replace, record: isWanted }: SetupOptions,
  notes: string[],
): { configs: PlannedFile[]; recording: RecordingClient[] } {
  const configs = new Map(servers.map((file) => [file.change.path, file]));
  const recording: RecordingClient[] = [];
  for (const target of findTargets(clients)) {
    const path = targetPath(target, site.isGlobal);
    const state = { planned: configs.get(path), known: record.files.find((file) => file.path === path) };
    const client = target.clients.find((id) => clients.some((known) => known.id === id)) ?? '';
    const { file, isRecording, note } = planHooks(site, target, state, { client, command, replace, isWanted });
    if (file !== undefined) configs.set(path, file);
    if (note !== undefined) notes.push(note);
    const users = clients.flatMap(({ id, name }) => {
      const nextStep = target.nextSteps[id];
      return nextStep === undefined ? [] : [{ id, name, nextStep }];
    });
    if (isRecording) recording.push(...users);
    if (isRecording) notes.push(...noteOffSwitch(site, target), ...noteOtherLedgers(site, target, configs, clients));
  }
  return { configs: [...configs.values()], recording };
}

function noteOffSwitch({ root, isGlobal }: Site, target: HookTarget): string[] {
  const found = findOffSwitch(target, isGlobal ? { root, home: root } : { root, home: findHomeFolder() });
  return found === undefined ? [] : [`${found}, so no hook of Colibri runs; remove that setting`];
}

/** Hooks do not get the variables of a server. One that is set up anew has none. */
function noteOtherLedgers(
  site: Site,
  target: HookTarget,
  configs: ReadonlyMap<string, PlannedFile>,
  clients: readonly Client[],
): string[] {
  const users = clients.filter(({ id }) => target.clients.includes(id));
  const place = { project: site.root, ledger: LEDGER };
  return users.flatMap((client) => {
    const found = findOtherLedger(client, site, place);
    if (found === undefined || configs.has(found.path.replace(/^~\//, ''))) return [];
    const { path, assignment } = found;
    return [`${client.name}: ${path} has ${assignment}, which hooks do not get; set it where the client starts, too`];
  });
}

/** A configuration file and the clients that read it. */
interface Group {
  readonly file: ConfigFile;
  readonly clients: readonly [Client, ...Client[]];
}

function groupByFile(site: Site, clients: readonly Client[], notes: string[]): Group[] {
  const groups = new Map<string, Group>();
  for (const client of clients) {
    const file = readConfigFile(client, site);
    if (file === undefined) {
      const scope = site.isGlobal ? 'user-wide' : 'project-wide';
      notes.push(`${client.name} has no ${scope} configuration file${site.isGlobal ? '' : '; use --global'}`);
      continue;
    }
    const known = groups.get(file.path);
    groups.set(file.path, known ? { file, clients: [...known.clients, client] } : { file, clients: [client] });
  }
  return [...groups.values()];
}

function planConfig(
  { file, clients }: Group,
  record: InitRecord,
  { command, replace, agentIds }: SetupOptions,
  { notes, connected }: { notes: string[]; connected: Client[] },
): PlannedFile | undefined {
  const { path, text, current } = file;
  const [client] = clients;
  const names = clients.map(({ name }) => name).join(', ');
  // Clients that share a file would share the id too; without one, each has its own name.
  const agentId = agentIds && clients.length === 1 ? `${client.id}#` : undefined;
  if (agentIds && agentId === undefined) notes.push(`${names}: no agent id in ${path}, which they share`);
  const entry = client.entry({ command, agentId });
  const recorded = record.files.find((known) => known.path === path);
  const isUntouched = text !== undefined && recorded?.sha256 === sha256(text);
  if (startsTheSame(current, entry)) {
    const isOff = isSwitchedOff(current);
    notes.push(`${names}: ${path} is already set up${isOff ? ', but colibri is switched off there' : ''}`);
    if (!isOff) connected.push(...clients);
    return undefined;
  }
  if (current !== undefined && !isUntouched && !replace) {
    const others = Object.keys(readEntry(current).variables).filter((name) => name !== 'COLIBRI_AGENT_ID');
    const isOwn = isOwnEntry(
      client,
      withoutVariables(current, (name) => others.includes(name)),
      { anyVersion: false },
    );
    const what =
      isOwn && others.length > 0
        ? `a colibri entry with other variables (${others.join(', ')})`
        : 'another colibri entry';
    notes.push(`${names}: ${path} has ${what}, which is left unchanged; use --replace to replace it`);
    return undefined;
  }
  connected.push(...clients);
  return withPath(path, () => {
    if (isUntouched && recorded !== undefined) return updateEntry(file, client, entry, recorded);
    return current === undefined ? addEntry(file, client, entry) : replaceEntry(file, client, entry);
  });
}

function addEntry(file: ConfigFile, client: Client, entry: ServerEntry) {
  const { text, format, keys } = file;
  const body = bodyOf(text);
  const nested = keys.filter(
    (_key, index) => index > 0 && format.find(body, keys.slice(0, index)) === undefined,
  ).length;
  return toChange(file, client, { before: body, edits: format.add(body, keys, entry), nested });
}

function replaceEntry(file: ConfigFile, client: Client, entry: ServerEntry) {
  const body = bodyOf(file.text);
  const change = toChange(file, client, {
    before: body,
    edits: file.format.replace(body, file.keys, entry),
    nested: 0,
  });
  return { ...change, recorded: { ...change.recorded, replaced: { entry: file.current } } };
}

/** An entry of an earlier init: reverts it first, so that undo still restores the text from before init. */
function updateEntry(file: ConfigFile, client: Client, entry: ServerEntry, recorded: RecordedFile) {
  const original = applyEdits(bodyOf(file.text), recorded.undo);
  const text = recorded.created ? undefined : withByteOrderMark(file.text, original);
  const current = file.format.find(original, file.keys);
  const earlier = { ...file, text, current };
  const planned = current === undefined ? addEntry(earlier, client, entry) : replaceEntry(earlier, client, entry);
  return { ...planned, change: { ...planned.change, before: file.text } };
}

function toChange(
  { path, text }: ConfigFile,
  client: Client,
  { before, edits, nested }: { before: string; edits: TextEdit[]; nested: number },
): PlannedFile {
  const after = withByteOrderMark(text, applyEdits(before, edits));
  return {
    change: { path, before: text, after },
    recorded: {
      path,
      client: client.id,
      created: text === undefined,
      nested,
      sha256: sha256(after),
      undo: invertEdits(before, edits),
    },
  };
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
