import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve('.');

export const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
};

/** Packs a copy of the repository and returns the path of the tarball. */
export function packCopy(folder: string): string {
  npm(copyRepository(folder), 'pack', '--pack-destination', folder);
  return join(folder, `${MANIFEST.name}-${MANIFEST.version}.tgz`);
}

/** Without tests, to build in: the folder of the build here is in use by other tests. */
export function copyRepository(folder: string): string {
  const repository = join(folder, 'repository');
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    encoding: 'utf8',
  });
  for (const path of files.split('\0').filter((name) => name !== '' && !/^(?:test|bench)\//.test(name)))
    cpSync(join(root, path), join(repository, path));
  symlinkSync(join(root, 'node_modules'), join(repository, 'node_modules'));
  return repository;
}

/** An empty project with the package as its only dependency; nothing is fetched and no script runs. */
export function installInto(project: string, tarball: string): void {
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}\n');
  npm(project, 'install', '--offline', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', tarball);
  lendSqlite(join(project, 'node_modules', MANIFEST.name));
}

/** No install script has run: a Node without its own SQLite uses the module of this repository. */
export function lendSqlite(folder: string): void {
  if (!hasBuiltInSqlite) symlinkSync(join(root, 'native'), join(folder, 'native'));
}

/** Makes packages of this repository resolvable from a folder, as an install from a registry would. */
export function linkPackages(folder: string, ...names: string[]): void {
  for (const name of names) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(resolve(place, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), place);
  }
}

export const hasBuiltInSqlite = isAtLeast(22, 16);

function isAtLeast(wantedMajor: number, wantedMinor: number): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

export function openFolder(): string {
  return mkdtempSync(join(tmpdir(), 'colibri-package-'));
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function run(cwd: string, command: string, ...args: string[]): Ran {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function npm(cwd: string, ...args: string[]): void {
  const { status, stdout, stderr } = run(cwd, 'npm', ...args, '--loglevel=error', `--cache=${join(cwd, '../cache')}`);
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stdout}${stderr}`);
}
