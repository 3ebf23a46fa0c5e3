import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SkillText {
  /** Relative to the folder of all skills, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** The folder of this package, whether the sources run or the build. */
export function findPackageFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new Error('package.json of the program not found');
  }
}

/** The skills that are part of this package. */
export function listShippedSkills(): SkillText[] {
  const folder = join(findPackageFolder(), '.agents', 'skills');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .sort()
    .map((path) => ({ path: path.split(sep).join('/'), text: readFileSync(join(folder, path), 'utf8') }));
}
