import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const LOADER = String.raw`\b(?:import|require|resolve|getBuiltinModule)\s*\(\s*(?:/\*.*?\*/\s*)?`;
const IMPORT = new RegExp(String.raw`(?:\b(?:from|import)\s*|${LOADER})(["'\x60])([^"'\x60\n$]+)\1`, 'g');
const COMPUTED = /\b(?:import|require)\s*\((?!\s*(?:\/\*.*?\*\/\s*)?["'])[^)]*\)?/g;

/** Every module that JavaScript or TypeScript text names: static, dynamic, re-exported, or for its types alone. */
export function importsOf(text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, , name]) => name as string);
}

/** Dynamic imports whose target is not a literal, which no rule can check. */
export function computedImportsOf(text: string): string[] {
  return [...text.matchAll(COMPUTED)].map(([expression]) => expression);
}

/** Resolves a relative import to a path from the repository root. */
export function resolveImport(from: string, name: string): string {
  return normalize(join(dirname(from), name));
}

/** Every file and package that a file imports, directly or indirectly. */
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
