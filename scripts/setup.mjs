// Installs missing dependencies and reports it on stderr; fast if nothing is missing.

import '../src/cli/require-node.cjs';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = `${root}node_modules/.colibri-setup`;
const buildStamp = `${root}node_modules/.colibri-build-setup`;

/** What the build reads. The other development dependencies take half a gigabyte. */
const FOR_BUILD = [
  '@modelcontextprotocol/server',
  '@noble/curves',
  '@noble/hashes',
  'commander',
  'esbuild',
  'jsonc-parser',
  'pg',
  'pgpass',
  'smol-toml',
  'yaml',
  'zod',
];

/** For the tests: everything. */
export function setUp() {
  setUpPackages();
  installSqlite();
}

/** Everything but SQLite's module, for what runs while that is compiled. */
export function setUpPackages() {
  if (isCurrent(stamp)) return;
  console.error('colibri: installing dependencies');
  // No install scripts: the only native module is installed apart, and only if Node has no built-in SQLite.
  // Not `npm ci`: it refuses a lock file made with a registry that lacks the binaries of other platforms.
  npm(root, 'install', '--no-save');
  writeFileSync(stamp, lockDigest());
}

/** For the program: what the build reads. */
export function setUpBuild() {
  if (!isCurrent(stamp) && !isCurrent(buildStamp)) {
    console.error('colibri: installing what the build needs');
    installForBuild();
    writeFileSync(buildStamp, lockDigest());
  }
  installSqlite();
}

function isCurrent(file) {
  return existsSync(file) && readFileSync(file, 'utf8') === lockDigest();
}

function lockDigest() {
  return createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex');
}

/** npm cannot install some of the development dependencies, so they are those of a package of their own. */
function installForBuild() {
  const folder = `${root}node_modules/.colibri-build`;
  const { devDependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const dependencies = Object.fromEntries(FOR_BUILD.map((name) => [name, devDependencies[name]]));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, JSON.stringify({ private: true, dependencies }));
  copyFileSync(`${root}package-lock.json`, `${folder}/package-lock.json`);
  npm(folder, 'install');
  for (const name of readdirSync(`${folder}/node_modules`)) {
    rmSync(`${root}node_modules/${name}`, { recursive: true, force: true });
    renameSync(`${folder}/node_modules/${name}`, `${root}node_modules/${name}`);
  }
  rmSync(folder, { recursive: true });
}

/** Needs no network if the Node has its own, or the module is there. */
function installSqlite() {
  const { status } = spawnSync(process.execPath, [`${root}scripts/sqlite-module.cjs`], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}

function npm(folder, ...args) {
  const cli = process.env.npm_execpath;
  const [command, ...prefix] = cli === undefined ? ['npm'] : [process.execPath, cli];
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-json', '--loglevel=error'];
  const { status, error } = spawnSync(command, [...prefix, ...args, ...flags], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
  });
  if (status === 0) return;
  console.error(`colibri: npm ${args[0]} failed${error ? `: ${error.message}` : ''}; its messages are above`);
  process.exit(1);
}
