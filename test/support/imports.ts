import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["']([^"'\n]+)["']/g;

/** What a text of JavaScript or TypeScript imports, types included, as it names it. */
export function importsOf(text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, name]) => name as string);
}

/** The path from the root of the repository of a relative import. */
export function resolveImport(from: string, name: string): string {
  return normalize(join(dirname(from), name));
}

/** Everything that a file pulls in, directly or not. */
export function reachableFrom(entry: string): { files: string[]; packages: string[] } {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const name of importsOf(readFileSync(file, 'utf8'))) {
      if (!name.startsWith('.')) packages.add(name);
      else if (existsSync(resolveImport(file, name))) files.add(resolveImport(file, name));
    }
  }
  return { files: [...files], packages: [...packages] };
}
