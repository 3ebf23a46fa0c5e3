import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface SkillText {
  /** From the folder of all skills, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** The folder of this package, whether it runs from its sources or from what was built of them. */
export function findPackageFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) throw new Error('the program has lost its package.json');
  }
}

/** The skills that come with this program. */
export function listShippedSkills(): SkillText[] {
  const folder = join(findPackageFolder(), '.agents', 'skills');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .sort()
    .map((path) => ({ path: path.split(sep).join('/'), text: readFileSync(join(folder, path), 'utf8') }));
}
