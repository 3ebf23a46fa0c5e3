import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { isFromRegistry } from './launch-command.ts';

const URL = 'https://registry.example/colibri-mcp/-/colibri-mcp-1.2.3.tgz';

describe('where the program came from', () => {
  for (const [name, lockFile, expected] of [
    ['the registry', lock({ resolved: URL }), true],
    ['a registry on this machine', lock({ resolved: URL.replace('https://registry.example', 'http://[::1]:1') }), true],
    ['an archive', lock({ resolved: 'file:../colibri-mcp-1.2.3.tgz' }), false],
    ['an archive on a server', lock({ resolved: 'https://example.org/colibri-mcp-1.2.3.tgz' }), false],
    ['a clone', lock({ resolved: 'git+ssh://git@example.org/colibri.git#abc' }), false],
    ['another version', lock({ resolved: URL.replace('1.2.3', '1.2.4') }), false],
    ['another package', lock({ resolved: URL.replaceAll('colibri-mcp', 'hummingbird') }), false],
    ['a link', lock({ link: true }), false],
    ['a note without it', JSON.stringify({ packages: {} }), false],
    ['a note of nothing', 'null', false],
    ['a note that is no JSON', '{', false],
    ['no note', undefined, false],
  ] as const)
    promiseTest(
      'init/launches',
      `${name}: ${expected ? 'it is started from the registry' : 'it is started where it is'}`,
      () => {
        const modules = join(tempFolder(), 'node_modules');
        mkdirSync(join(modules, 'colibri-mcp'), { recursive: true });
        if (lockFile !== undefined) writeFileSync(join(modules, '.package-lock.json'), lockFile);
        expect(isFromRegistry(join(modules, 'colibri-mcp'), '1.2.3')).toBe(expected);
      },
    );

  promiseTest('init/launches', 'a folder that is in no node_modules: it is started where it is', () => {
    const folder = tempFolder();
    writeFileSync(join(folder, '.package-lock.json'), lock({ resolved: URL }));
    expect(isFromRegistry(join(folder, 'colibri-mcp'), '1.2.3')).toBe(false);
  });
});

function lock(entry: Record<string, unknown>): string {
  return JSON.stringify({
    lockfileVersion: 3,
    packages: { 'node_modules/colibri-mcp': { version: '1.2.3', ...entry } },
  });
}
