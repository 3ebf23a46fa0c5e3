'use strict';
// The install script of the package. Node 22.16 and later include SQLite, and nothing is installed. For an older Node,
// installs better-sqlite3 beside the program; npm would install a declared dependency on every version of Node.
const { spawnSync } = require('node:child_process');
const { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const VERSION = '12.11.1';
const root = join(__dirname, '..');
const folder = join(root, 'native');
const binary = 'build/Release/better_sqlite3.node';

if (needsModule() && !existsSync(join(folder, 'better-sqlite3', binary))) install();

/** The same rule as `hasBuiltInSqlite`. A Node that is too old for Colibri gets none either. */
function needsModule() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major === 20 || major === 21 || major === 23 || (major === 22 && minor < 16);
}

function install() {
  console.error('colibri: installing the SQLite module (Node 22.16 and later need none); this takes about a minute');
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const manifest = {
    private: true,
    dependencies: { 'better-sqlite3': VERSION },
    allowScripts: { 'better-sqlite3': true },
  };
  writeFileSync(join(part, 'package.json'), JSON.stringify(manifest));
  const status = npm(part, 'install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error');
  const built = join(part, 'node_modules', 'better-sqlite3');
  const isBuilt = status === 0 && existsSync(join(built, binary));
  if (isBuilt) keep(built, join(part, 'better-sqlite3'));
  for (const name of ['node_modules', 'package.json']) rmSync(join(part, name), { recursive: true, force: true });
  if (isBuilt) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(part, folder);
    return;
  }
  rmSync(part, { recursive: true, force: true });
  console.error(
    `colibri: better-sqlite3 could not be installed; use Node 22.16 or later, or run node ${__filename} again`,
  );
  // PostgreSQL needs no module, so a failed build must not fail the installation.
  process.exitCode = process.env.npm_lifecycle_event === 'install' ? 0 : 1;
}

/** Without its sources, which take 10 MB. */
function keep(built, target) {
  for (const name of ['package.json', 'LICENSE', 'lib', binary])
    cpSync(join(built, name), join(target, name), { recursive: true });
}

/** npm passes its options on as variables; those that say what to install, and where, belong to the outer npm. */
function npm(cwd, ...args) {
  const own =
    /^npm_config_(?:global|location|prefix|local_prefix|workspaces?|dry_run|ignore_scripts|omit|include|only|production|package|call|json|save.*|package_lock.*)$/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
  // node-gyp then compiles SQLite and its binding side by side.
  env.JOBS ??= 'max';
  const cli = process.env.npm_execpath;
  const [command, ...prefix] = /npm-cli\.c?js$/.test(cli || '') ? [process.execPath, cli] : ['npm'];
  const shell = prefix.length === 0 && process.platform === 'win32';
  return spawnSync(command, [...prefix, ...args], { cwd, env, shell, stdio: ['ignore', 2, 2] }).status;
}
