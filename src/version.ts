import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseJson } from './integrity/parse-json.ts';

/** `package.json` is one folder up both from the sources and from the build. */
export function readVersion(): string {
  try {
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    return (parseJson(text) as { version: string }).version;
  } catch (error) {
    throw new Error(`Failed to read package.json version: ${String(error)}`, { cause: error });
  }
}

/** The path of a file of this package. */
export function locateInPackage(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
