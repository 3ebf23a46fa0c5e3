import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tempFolder } from '../../../test/support/folders.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { isFromRegistry } from './launch-command.ts';

const URL = 'https://registry.example/colibri-mcp/-/colibri-mcp-1.2.3.tgz';

describe('the origin of the program', () => {
  for (const [name, lockFile, expected] of [
    ['the registry', lock({ resolved: URL }), true],
    ['a registry on this machine', lock({ resolved: URL.replace('https://registry.example', 'http://[::1]:1') }), true],
    ['an archive', lock({ resolved: 'file:../colibri-mcp-1.2.3.tgz' }), false],
    ['an archive on a server', lock({ resolved: 'https://example.org/colibri-mcp-1.2.3.tgz' }), false],
    ['a clone', lock({ resolved: 'git+ssh://git@example.org/colibri.git#abc' }), false],
    ['another version', lock({ resolved: URL.replace('1.2.3', '1.2.4') }), false],
    ['another package', lock({ resolved: URL.replaceAll('colibri-mcp', 'hummingbird') }), false],
    ['a link', lock({ link: true }), false],
    ['a lockfile without it', JSON.stringify({ packages: {} }), false],
    ['a lockfile that is null', 'null', false],
    ['a lockfile that is not JSON', '{', false],
    ['no lockfile', undefined, false],
  ] as const)
    promiseTest(
      'init/launches',
      `${name}: ${expected ? 'starts from the registry' : 'starts this installation'}`,
      () => {
        const modules = join(tempFolder(), 'node_modules');
        mkdirSync(join(modules, 'colibri-mcp'), { recursive: true });
        if (lockFile !== undefined) writeFileSync(join(modules, '.package-lock.json'), lockFile);
        expect(isFromRegistry(join(modules, 'colibri-mcp'), '1.2.3')).toBe(expected);
      },
    );

  promiseTest('init/launches', 'a folder outside node_modules: starts this installation', () => {
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
