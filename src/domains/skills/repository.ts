import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { toError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Skill, SkillDefect } from './schema.ts';
import { parseSkill } from './skill-file.ts';

const FILE_NAME = 'SKILL.md';
const MAX_SKILLS = 1000;
const MAX_FILE_BYTES = 256 * 1024;

interface KnownFile {
  /** Changes whenever the file does. */
  readonly stamp: string;
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
    for (const name of listFolders(root)) {
      const before = known.get(name);
      const file = readSkill(root, name, before);
      if (file.defect !== undefined && file.stamp !== before?.stamp) log('warn', 'skipped a skill', { ...file.defect });
      now.set(name, file);
    }
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
    const names = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(({ name }) => name);
    return names.sort().slice(0, MAX_SKILLS);
  } catch {
    // No such folder: a project without skills.
    return [];
  }
}

function readSkill(root: string, name: string, before: KnownFile | undefined): KnownFile {
  const file = join(root, name, FILE_NAME);
  const path = relative(process.cwd(), file).split(sep).join('/');
  let stamp = '';
  try {
    // A link could lead anywhere, and what it leads to could change without notice.
    if (lstatSync(join(root, name)).isSymbolicLink()) throw new Error('its folder is a symbolic link');
    const stats = lstatSync(file);
    stamp = `${stats.ino}/${stats.size}/${stats.mtimeMs}`;
    if (stamp === before?.stamp) return before;
    if (!stats.isFile()) throw new Error('is not a regular file');
    if (stats.size > MAX_FILE_BYTES) throw new Error(`is larger than ${MAX_FILE_BYTES} bytes`);
    return { stamp, skill: parseSkill(readFileSync(file, 'utf8'), name, path) };
  } catch (thrown) {
    const { message } = toError(thrown);
    return { stamp: stamp || message, defect: { path, defect: message.split('\n')[0] ?? message } };
  }
}
