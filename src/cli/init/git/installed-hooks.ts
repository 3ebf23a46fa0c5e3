import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../../integrity/index.ts';
import { InitError } from '../init-error.ts';
import { RECORD_PATH } from '../record.ts';

/**
 * What init did to the hooks of a repository, for all projects in it: the last one that leaves removes what the first
 * has installed. In the folder of git, because the record of a project could have come with a clone.
 */
export const INSTALLED_PATH = 'colibri/installed.json';

/** All paths are relative to the folder that the work trees share, with slashes. */
const installedSchema = z.strictObject({
  v: z.literal(1),
  projects: z.array(z.string()),
  /** `created`: there was no such hook before. */
  hooks: z.array(z.strictObject({ path: z.string(), created: z.boolean() })),
});

export type Installed = z.output<typeof installedSchema>;

/** Without a text: nothing is installed, or an earlier version did it. */
export function parseInstalled(text: string | undefined, path: string): Installed {
  if (text === undefined) return { v: 1, projects: [], hooks: [] };
  try {
    return installedSchema.parse(parseJson(text));
  } catch {
    throw new InitError(`${path} is damaged`, { advice: 'delete it to continue' });
  }
}

/** Undefined if there is nothing to remember. */
export function installedText(installed: Installed): string | undefined {
  if (installed.projects.length === 0 && installed.hooks.length === 0) return undefined;
  return `${JSON.stringify(installed, undefined, 2)}\n`;
}

/** The projects, except this one, that are still set up. */
export function listOthers({ projects }: Installed, common: string, own: string): string[] {
  return projects.filter((project) => project !== own && existsSync(join(common, project, RECORD_PATH)));
}
