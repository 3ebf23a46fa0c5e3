import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join, posix, relative, resolve, sep } from 'node:path';
import { toError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Skill, SkillDefect } from './skill.ts';
import { parseSkill } from './skill-file.ts';

const FILE_NAME = 'SKILL.md';
const MAX_SKILLS = 1000;
const MAX_FILE_BYTES = 256 * 1024;
/** Longer than the timestamp granularity of file systems. */
const SETTLED_AFTER_MS = 100;

interface KnownFile {
  /** Changes with the file, unless it is written twice within one timestamp tick. */
  readonly stamp: string;
  /** False if the file was so new when read that a later change could have the same stamp. */
  readonly isSettled?: boolean;
  readonly skill?: Skill;
  readonly defect?: SkillDefect;
}

export interface SkillRegistry {
  /** Sorted by name; reflects the files at the time of the call. */
  list(): readonly Skill[];
  defects(): readonly SkillDefect[];
}

export interface SkillFolder {
  readonly folder: string;
  /** The root of the repository, from which paths are shown. */
  readonly repository: string;
}

/** Compares file stamps at every call and reads only changed files again. */
export function createSkillRegistry({ folder, repository }: SkillFolder, log: Log): SkillRegistry {
  const root = resolve(folder);
  const shownRoot = shownPath(root, resolve(repository));
  let known = new Map<string, KnownFile>();

  const refresh = (): readonly KnownFile[] => {
    const now = new Map<string, KnownFile>();
    const names = listFolders(root);
    for (const name of names.slice(0, MAX_SKILLS)) {
      const path = posix.join(shownRoot, name, FILE_NAME);
      now.set(name, readSkill({ root, name, path }, known.get(name)));
    }
    if (names.length > MAX_SKILLS) {
      const defect = `has ${names.length} folders; only the first ${MAX_SKILLS} are listed`;
      now.set('', { stamp: defect, defect: { path: shownRoot, defect } });
    }
    for (const [name, { stamp, defect }] of now)
      if (defect !== undefined && stamp !== known.get(name)?.stamp) log('warn', 'skipped a skill', { ...defect });
    known = now;
    return [...now.values()];
  };

  return {
    list: () => refresh().flatMap(({ skill }) => skill ?? []),
    defects: () => refresh().flatMap(({ defect }) => defect ?? []),
  };
}

function listFolders(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .sort();
  } catch {
    // A project without a skills folder has no skills.
    return [];
  }
}

interface SkillFile {
  readonly root: string;
  readonly name: string;
  readonly path: string;
}

function readSkill({ root, name, path }: SkillFile, before: KnownFile | undefined): KnownFile {
  const file = join(root, name, FILE_NAME);
  let stamp = '';
  let isSettled = true;
  try {
    // A symbolic link can point outside the repository, and its target can change unnoticed.
    if (lstatSync(join(root, name)).isSymbolicLink()) throw new Error('its folder is a symbolic link');
    const { ino, size, mtimeNs, ctimeNs, ctimeMs } = lstatSync(file, { bigint: true });
    stamp = `${ino}/${size}/${mtimeNs}/${ctimeNs}`;
    if (stamp === before?.stamp && before.isSettled) return before;
    isSettled = Math.abs(Date.now() - Number(ctimeMs)) > SETTLED_AFTER_MS;
    return { stamp, isSettled, skill: parseSkill(readRegularFile(file), name, path) };
  } catch (thrown) {
    const defect = describeDefect(toError(thrown));
    return { stamp: stamp || defect, isSettled, defect: { path, defect } };
  }
}

/** Checks the open handle, not the path: a link could replace the file between check and read. */
function readRegularFile(file: string): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw new Error('is not a regular file');
    if (stats.size > MAX_FILE_BYTES) throw new Error(`is larger than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

/** One line, without the absolute paths in system error messages. */
function describeDefect(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return `has no ${FILE_NAME}`;
  if (code === 'ELOOP') return 'is a symbolic link';
  if (/^E[A-Z]+$/.test(code)) return `cannot be read (${code})`;
  return error.message.split('\n')[0] ?? error.message;
}

/** From the root of the repository; absolute for a folder outside of it. */
function shownPath(folder: string, repository: string): string {
  const path = relative(repository, folder);
  const isOutside = isAbsolute(path) || path.split(sep)[0] === '..';
  return (isOutside ? folder : path || '.').split(sep).join('/');
}
