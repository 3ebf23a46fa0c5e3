import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCodeCacheFolder } from './code-cache-folder.ts';

describe('the folder for compiled code', () => {
  let folder: string;
  const path = (...names: string[]) => join(folder, ...names);
  const find = () => findCodeCacheFolder(path('dist/program.cjs'), () => path('home'));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'colibri-code-'));
    mkdirSync(path('dist'));
    mkdirSync(path('home'), { mode: 0o755 });
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A file: no folder can be created in its place, nor used. */
  const withoutFolderBeside = () => cpSync('package.json', path('dist/.code-cache'));

  it('is beside the program, for its owner alone', () => {
    expect([find(), find()]).toEqual([path('dist/.code-cache'), path('dist/.code-cache')]);
    expect(statSync(path('dist/.code-cache')).mode & 0o777).toBe(0o700);
    expect(readdirSync(path('home'))).toEqual([]);
  });

  it('is in the home folder if there can be none beside the program', () => {
    withoutFolderBeside();
    expect([find(), find()]).toEqual([path('home/.cache/colibri'), path('home/.cache/colibri')]);
    expect(statSync(path('home/.cache/colibri')).mode & 0o777).toBe(0o700);
  });

  it('is never one that others can write to, or a link', () => {
    mkdirSync(path('dist/.code-cache'));
    chmodSync(path('dist/.code-cache'), 0o770);
    expect(find()).toBe(path('home/.cache/colibri'));
    rmSync(path('dist/.code-cache'), { recursive: true });
    mkdirSync(path('elsewhere'), { mode: 0o700 });
    symlinkSync(path('elsewhere'), path('dist/.code-cache'));
    expect(find()).toBe(path('home/.cache/colibri'));
    for (const open of ['home', 'home/.cache', 'home/.cache/colibri']) {
      const { mode } = statSync(path(open));
      chmodSync(path(open), 0o777);
      expect(find(), open).toBeUndefined();
      chmodSync(path(open), mode);
    }
    rmSync(path('home/.cache/colibri'), { recursive: true });
    symlinkSync(path('elsewhere'), path('home/.cache/colibri'));
    expect(find()).toBeUndefined();
    expect(findCodeCacheFolder(path('dist/program.cjs'), () => undefined)).toBeUndefined();
    expect(findCodeCacheFolder(path('missing/program.cjs'), () => path('missing'))).toBeUndefined();
  });

  it('is none if the system cannot say what the home folder is', () => {
    withoutFolderBeside();
    symlinkSync(path('loop'), path('loop'));
    for (const home of [path('dist/.code-cache/home'), path('loop/home'), path('h'.repeat(300))])
      expect(findCodeCacheFolder(path('dist/program.cjs'), () => home)).toBeUndefined();
  });

  it('is never one of another user', () => {
    if (process.getuid?.() !== 0) return;
    expect(find()).toBe(path('dist/.code-cache'));
    chownSync(path('dist/.code-cache'), 65_534, 65_534);
    expect(find()).toBe(path('home/.cache/colibri'));
    chownSync(path('dist/.code-cache'), 0, 0);
    chownSync(path('dist'), 65_534, 65_534);
    expect(find()).toBe(path('home/.cache/colibri'));
    for (const foreign of ['home', 'home/.cache', 'home/.cache/colibri']) {
      chownSync(path(foreign), 65_534, 65_534);
      expect(find(), foreign).toBeUndefined();
      chownSync(path(foreign), 0, 0);
    }
  });

  it('is not in the temporary folder, which all users share', () => {
    mkdirSync(path('shared'));
    rmSync(path('dist'), { recursive: true });
    cpSync('dist', path('dist'), { recursive: true });
    cpSync('package.json', path('package.json'));
    for (const name of readdirSync(path('dist')).filter((file) => file.endsWith('.cache') || file === '.code-cache'))
      rmSync(path('dist', name), { recursive: true });
    const env = { ...process.env, TMPDIR: path('shared'), HOME: path('home') };
    const { status } = spawnSync(process.execPath, [path('dist/colibri.cjs'), '--version'], { env });
    expect([status, readdirSync(path('shared')), readdirSync(path('home'))]).toEqual([0, [], []]);
    const keepsCompiledCode = 'enableCompileCache' in process.getBuiltinModule('node:module');
    expect(readdirSync(path('dist')).includes('.code-cache')).toBe(keepsCompiledCode);
  });
});
