// Installs missing dependencies and reports it on stderr; fast if nothing is missing.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = `${root}node_modules/.colibri-setup`;

export function setUp() {
  const wanted = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    console.error('colibri: installing dependencies');
    // No install scripts: the only native module is built below, and only if Node has no built-in SQLite.
    // Not `npm ci`: it refuses a lock file made with a registry that lacks the binaries of other platforms.
    npm('install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund');
    writeFileSync(stamp, wanted);
  }
  if (!hasBuiltInSqlite() && !existsSync(`${root}node_modules/better-sqlite3/build/Release/better_sqlite3.node`)) {
    console.error('colibri: building the SQLite module (Node 22.16 and later need none); this takes about a minute');
    npm('rebuild', 'better-sqlite3');
  }
}

function hasBuiltInSqlite() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 22 && minor >= 16);
}

function npm(...args) {
  const cli = process.env.npm_execpath;
  const [command, ...prefix] = cli === undefined ? ['npm'] : [process.execPath, cli];
  const options = { cwd: root, stdio: ['ignore', 2, 2] };
  const { status, error } = spawnSync(command, [...prefix, ...args, '--loglevel=error'], options);
  if (status === 0) return;
  console.error(`colibri: npm ${args[0]} failed${error ? `: ${error.message}` : ''}; its messages are above`);
  process.exit(1);
}
