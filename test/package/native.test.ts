import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';
import { hasBuiltInSqlite } from './packed.ts';

const BINARY = 'better-sqlite3/build/Release/better_sqlite3.node';

/** Stands for npm: writes down how it was called, and leaves what npm leaves. */
const NPM = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  const variables = Object.keys(process.env).filter((name) => /^npm_config_/i.test(name)).sort();
  const manifest = require('node:fs').readFileSync('package.json', 'utf8');
  writeFileSync('../called.json', JSON.stringify({ args: process.argv.slice(2), variables, manifest }));
  if (process.env.FAIL) process.exit(1);
  for (const name of ['lib/index.js', 'package.json', 'LICENSE', 'deps/sqlite3.c', 'build/Release/better_sqlite3.node']) {
    mkdirSync(require('node:path').dirname('node_modules/better-sqlite3/' + name), { recursive: true });
    writeFileSync('node_modules/better-sqlite3/' + name, name);
  }`;

/** Runs the install script of a package in a folder of its own, on a Node that says that it has this version. */
function install(version: string, env: Record<string, string> = {}, folder = tempFolder()) {
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  cpSync('scripts/sqlite-module.cjs', join(folder, 'scripts/sqlite-module.cjs'));
  const versions = `{ ...process.versions, node: ${JSON.stringify(version)} }`;
  writeFileSync(join(folder, 'pretend.cjs'), `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  writeFileSync(join(folder, 'npm-cli.js'), NPM);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--require', join(folder, 'pretend.cjs'), join(folder, 'scripts/sqlite-module.cjs')],
    { encoding: 'utf8', env: { npm_execpath: join(folder, 'npm-cli.js'), ...env } },
  );
  const called = existsSync(join(folder, 'called.json'))
    ? (JSON.parse(readFileSync(join(folder, 'called.json'), 'utf8')) as Record<string, unknown>)
    : undefined;
  return { folder, status, stdout, stderr, called };
}

describe('the install script', () => {
  for (const version of ['22.16.0', '22.23.2', '24.0.0', '26.1.0', '18.20.8', '14.21.3'])
    promiseTest('package/native', `installs nothing on Node ${version}`, () => {
      const { folder, called, ...rest } = install(version);
      expect(rest).toEqual({ status: 0, stdout: '', stderr: '' });
      expect(called).toBeUndefined();
      expect(readdirSync(folder).sort()).toEqual(['npm-cli.js', 'pretend.cjs', 'scripts']);
    });

  for (const version of ['20.19.0', '22.15.1', '23.11.1'])
    promiseTest('package/native', `installs the module without its sources on Node ${version}`, () => {
      const { folder, called, status, stdout } = install(version);
      expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
      expect(called).toMatchObject({ manifest: expect.stringContaining('"better-sqlite3":"12.') as string });
      const files = readdirSync(join(folder, 'native'), { recursive: true, encoding: 'utf8' });
      expect(files).toEqual(expect.arrayContaining([BINARY, 'better-sqlite3/lib/index.js', 'better-sqlite3/LICENSE']));
      expect(files.filter((name) => /deps|node_modules/.test(name))).toEqual([]);
      expect(existsSync(join(folder, 'native.part'))).toBe(false);
    });

  promiseTest('package/native', 'passes on where npm fetches packages, and not what else it was asked to do', () => {
    const env = {
      npm_config_registry: 'https://example.org',
      npm_config_cache: '/x',
      npm_config_global: 'true',
      npm_config_prefix: '/y',
      npm_config_ignore_scripts: 'true',
      npm_config_omit: 'optional',
      npm_config_json: 'true',
      npm_config_save_dev: 'true',
    };
    expect(install('20.19.0', env).called?.['variables']).toEqual(['npm_config_cache', 'npm_config_registry']);
  });

  promiseTest('package/native', 'installs the module once', () => {
    const { folder } = install('20.19.0');
    writeFileSync(join(folder, 'called.json'), '"not again"');
    expect(install('20.19.0', {}, folder).called).toBe('not again');
  });

  for (const [who, env, status] of [
    ['a person', {}, 1],
    ['npm, whose installation continues', { npm_lifecycle_event: 'install' }, 0],
  ] as const)
    promiseTest('package/native', `tells ${who} how to continue after a failed build, and leaves nothing`, () => {
      const run = install('20.19.0', { FAIL: '1', ...env });
      expect(run.status).toBe(status);
      expect(run.stderr).toContain(
        `use Node 22.16 or later, or run node ${run.folder}/scripts/sqlite-module.cjs again`,
      );
      expect(readdirSync(run.folder).filter((name) => name.startsWith('native'))).toEqual([]);
    });
});

describe('a program without the module', () => {
  promiseTest('package/native', 'works on a Node with its own SQLite, and says what to do on another', () => {
    const folder = tempFolder();
    for (const name of ['dist', 'package.json']) cpSync(name, join(folder, name), { recursive: true });
    const { stdout } = spawnSync(process.execPath, [join(folder, 'dist/colibri.cjs'), 'doctor', '--json'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const { checks } = JSON.parse(stdout) as { checks: Record<string, string>[] };
    const sqlite = checks.find(({ check }) => check === 'sqlite');
    expect(sqlite).toMatchObject(
      hasBuiltInSqlite
        ? { status: 'ok' }
        : {
            status: 'fail',
            message: 'this version of Node has no SQLite, and the module better-sqlite3 is not installed',
            fix: `use Node 22.16 or later, or run node ${folder}/scripts/sqlite-module.cjs`,
          },
    );
  });
});
