import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findHomeFolder } from '../../home-folder.ts';
import { CLIENTS } from './clients.ts';

const MARKS = ['.git', 'package.json', '.colibri', ...CLIENTS.flatMap(({ project }) => project)];

/** The nearest folder from here upwards that looks like a project, else this one. */
export function findProjectRoot(start: string = process.cwd()): string {
  const found = findHomeFolder();
  const home = found === undefined ? undefined : resolve(found);
  // What lies in the home folder is configuration of the user, not of a project.
  for (let folder = resolve(start); folder !== home; folder = dirname(folder)) {
    if (MARKS.some((mark) => existsSync(join(folder, mark)))) return folder;
    if (folder === dirname(folder)) break;
  }
  return resolve(start);
}
