import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { toError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Skill, SkillDefect } from './schema.ts';
import { parseSkill } from './skill-file.ts';

const FILE_NAME = 'SKILL.md';
const MAX_SKILLS = 1000;
const MAX_FILE_BYTES = 256 * 1024;
/** Longer than a tick of the clocks that file systems use. */
const SETTLED_AFTER_MS = 100;

interface KnownFile {
  /** Changes whenever the file does, unless it does so twice between two ticks of the file system's clock. */
  readonly stamp: string;
  /** False: the file was so young when it was read that a later change could have the same stamp. */
  readonly isSettled?: boolean;
  readonly skill?: Skill;
  readonly defect?: SkillDefect;
}

export interface SkillRegistry {
  /** In the order of their names, as the files are now. */
  list(): readonly Skill[];
  defects(): readonly SkillDefect[];
}

/** Files on disk are the truth: each look compares their stamps and reads again only what changed. */
export function createSkillRegistry(folder: string, log: Log): SkillRegistry {
  const root = resolve(folder);
  let known = new Map<string, KnownFile>();

  const refresh = (): readonly KnownFile[] => {
    const now = new Map<string, KnownFile>();
    const names = listFolders(root);
    for (const name of names.slice(0, MAX_SKILLS)) now.set(name, readSkill(root, name, known.get(name)));
    if (names.length > MAX_SKILLS) {
      const defect = `has ${names.length} folders; those after the first ${MAX_SKILLS} are left out`;
      now.set('', { stamp: defect, defect: { path: shownPath(root), defect } });
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
    // No such folder: a project without skills.
    return [];
  }
}

function readSkill(root: string, name: string, before: KnownFile | undefined): KnownFile {
  const file = join(root, name, FILE_NAME);
  const path = shownPath(file);
  let stamp = '';
  let isSettled = true;
  try {
    // A link could lead anywhere, and what it leads to could change without notice.
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

/** Looks at the very file that it reads: between two looks at a path, a link could take its place. */
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

/** In one line, without the paths of this machine that the system puts into its messages. */
function describeDefect(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no ${FILE_NAME}`;
  if (code === 'ELOOP') return 'is a symbolic link';
  if (/^E[A-Z]+$/.test(code)) return `cannot be read (${code})`;
  return error.message.split('\n')[0] ?? error.message;
}

function shownPath(file: string): string {
  return relative(process.cwd(), file).split(sep).join('/');
}
