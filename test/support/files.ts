import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The files below a folder of this repository whose names end so, as paths from its root. */
export function listFiles(folder: string, suffix: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(suffix))
    .map((name) => join(folder, name));
}
