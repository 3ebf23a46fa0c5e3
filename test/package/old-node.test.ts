import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect } from 'vitest';
import { tempFolder } from '../support/folders.ts';
import { promiseTest } from '../support/promise-test.ts';

/** Runs a program of this repository on a Node that says that it has this version. */
function runOn(version: string, program: string, ...args: string[]) {
  const cwd = tempFolder();
  const pretend = join(cwd, 'pretend.cjs');
  const versions = `{ ...process.versions, node: ${JSON.stringify(version)} }`;
  writeFileSync(pretend, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', pretend, resolve(program), ...args], {
    cwd,
    encoding: 'utf8',
    input: '',
  });
  return { status, stdout, stderr };
}

describe('on a Node that is too old', () => {
  const COMMANDS = [
    [],
    ['serve'],
    ['board'],
    ['verify'],
    ['init', 'claude-code'],
    ['--help'],
    ['--version'],
    ['nosuch'],
  ];
  for (const args of COMMANDS)
    promiseTest('package/old-node', `colibri ${args.join(' ')}`, () => {
      expect(runOn('18.20.8', 'dist/colibri.cjs', ...args)).toEqual({
        status: 78,
        stdout: '',
        stderr: 'Colibri needs Node 20.19 or later; this is 18.20\n',
      });
    });

  promiseTest('recorder/silent', 'a Node that is too old', () => {
    expect(runOn('18.20.8', 'dist/colibri.cjs', 'hook', '--client', 'codex')).toEqual({
      status: 0,
      stdout: '',
      stderr: 'Colibri needs Node 20.19 or later; this is 18.20\n',
    });
  });

  for (const [version, said] of [
    ['0.10.48', '0.10'],
    ['8.17.0', '8.17'],
    ['19.9.0', '19.9'],
    ['20.18.3', '20.18'],
  ] as const)
    promiseTest('package/old-node', `names version ${version}`, () => {
      const { status, stderr } = runOn(version, 'dist/colibri.cjs');
      expect([status, stderr]).toEqual([78, `Colibri needs Node 20.19 or later; this is ${said}\n`]);
    });

  for (const version of ['20.19.0', '21.0.0', '22.0.0', '100.0.0'])
    promiseTest('package/old-node', `version ${version} is new enough`, () => {
      expect(runOn(version, 'dist/colibri.cjs', '--version')).toMatchObject({ status: 0, stderr: '' });
    });

  for (const program of ['dist/colibri.js', 'scripts/start.mjs', 'scripts/build/run.mjs', 'scripts/test/run.mjs'])
    promiseTest('package/old-node', `${program} says so too, and installs nothing`, () => {
      const { status, stderr } = runOn('18.20.8', program);
      expect([status, stderr]).toEqual([78, 'Colibri needs Node 20.19 or later; this is 18.20\n']);
    });

  promiseTest('package/old-node', 'the first file is ES5, which every Node can parse', () => {
    const text = readFileSync('dist/colibri.cjs', 'utf8');
    const compile = (code: string, target: string) => transformSync(code, { target, supported: {} }).code;
    expect(compile(text, 'es5')).toBe(compile(text, 'esnext'));
    // The check notices newer syntax.
    const newer = `${text}\n(() => 1)();`;
    expect(compile(newer, 'es5')).not.toBe(compile(newer, 'esnext'));
  });
});
