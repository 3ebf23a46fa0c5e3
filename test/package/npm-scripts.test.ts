import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** These run before anything is installed, or install what they need elsewhere. */
const NEED_NOTHING = new Set(['install', 'first-minute']);
const STATIC_IMPORT = /^(?:import|(?:import|export)\b[^'"();=]*\bfrom)\s*['"](?<from>[^'"]+)['"]/gm;

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/**
 * What Node resolves before the first line of a file runs: the static imports of it and of the files that it imports.
 */
function listImports(path: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(path)) return seen;
  const imports = Array.from(
    readFileSync(path, 'utf8').matchAll(STATIC_IMPORT),
    ({ groups }) => groups?.['from'] ?? '',
  );
  seen.set(path, imports);
  for (const name of imports) if (name.startsWith('.')) listImports(resolve(dirname(path), name), seen);
  return seen;
}

function programOf(command: string): string {
  const [node, file = ''] = command.split(' ');
  expect(node).toBe('node');
  return resolve(ROOT, file);
}

describe('a script of package.json', () => {
  for (const [name, command] of Object.entries(scripts)) {
    promiseTest('package/fresh-clone', `npm run ${name} starts without any package`, () => {
      const program = programOf(command);
      expect(existsSync(program)).toBe(true);
      const packages = [...listImports(program)].flatMap(([path, imports]) =>
        imports.filter((from) => !/^(?:node:|\.)/.test(from)).map((from) => `${relative(ROOT, path)}: ${from}`),
      );
      expect(packages).toEqual([]);
    });

    if (NEED_NOTHING.has(name)) continue;
    promiseTest('package/fresh-clone', `npm run ${name} installs what it needs`, () => {
      const files = [...listImports(programOf(command)).keys()].map((path) => relative(ROOT, path));
      expect(files).toContain('scripts/setup.mjs');
    });
  }

  promiseTest('package/fresh-clone', 'the test finds static imports of packages', () => {
    const packages = [...listImports(join(ROOT, 'scripts/build/bundle.mjs')).values()].flat();
    expect(packages).toContain('esbuild');
  });
});
