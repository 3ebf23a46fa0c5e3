import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findHomeFolder } from '../../home-folder.ts';
import { CLIENTS } from './clients.ts';

const MARKS = ['.git', 'package.json', '.colibri', ...CLIENTS.flatMap(({ project }) => project)];

/** The nearest folder at or above `start` that looks like a project, else `start`. */
export function findProjectRoot(start: string = process.cwd()): string {
  const found = findHomeFolder();
  const home = found === undefined ? undefined : resolve(found);
  // Files in the home folder belong to the user, not to a project.
  for (let folder = resolve(start); folder !== home; folder = dirname(folder)) {
    if (MARKS.some((mark) => existsSync(join(folder, mark)))) return folder;
    if (folder === dirname(folder)) break;
  }
  return resolve(start);
}
