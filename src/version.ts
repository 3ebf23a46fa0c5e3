import { existsSync, readFileSync } from 'node:fs';
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

/** The path of a file of this package, from the sources, the build, and programs bundled into a folder of the build. */
export function locateInPackage(path: string): string {
  return fileURLToPath(new URL(path, findPackage(new URL('..', import.meta.url))));
}

function findPackage(folder: URL): URL {
  const above = new URL('..', folder);
  return existsSync(new URL('package.json', folder)) || above.href === folder.href ? folder : findPackage(above);
}
