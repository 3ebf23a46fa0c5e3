import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/folders.ts';

const SCRIPT = new URL('../../scripts/test/node-from-npm.mjs', import.meta.url).href;

/** Asks for a version of Node with an empty cache and a registry that does not answer. */
function askOffline(cache: string, major: string) {
  const code = `import { nodeFromNpm } from ${JSON.stringify(SCRIPT)};
    console.log(String(nodeFromNpm(${JSON.stringify(major)}, ${JSON.stringify(cache)})));`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: { ...process.env, npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: tempFolder() },
  });
}

describe('a version of Node that npm cannot get', () => {
  it('returns undefined and leaves no partial installation', () => {
    const cache = join(tempFolder(), 'nodes');
    const { status, stdout, stderr } = askOffline(cache, '24');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'undefined\n' });
    expect(stderr).toContain('ECONNREFUSED');
    expect(readdirSync(cache).filter((name) => !name.endsWith('.part'))).toEqual([]);
  });
});
