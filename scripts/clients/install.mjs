// Installs one pinned client from npm below node_modules/.cache. No script of a package runs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/colibri-clients', import.meta.url));
const TIMEOUT_MS = 300_000;

/** The folder with `node_modules`; undefined if npm cannot install the client. */
export function installClient({ id, package: name, version }) {
  const folder = join(CACHE, `${id}-${version}`);
  if (!isInstalled(folder, name, version)) install(folder, `${name}@${version}`);
  return isInstalled(folder, name, version) ? folder : undefined;
}

function isInstalled(folder, name, version) {
  const file = join(folder, 'node_modules', name, 'package.json');
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === version;
}

/** Under a temporary name, so that an interrupted installation does not look complete. */
function install(folder, wanted) {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  writeFileSync(join(part, 'package.json'), '{"private":true}');
  console.error(`clients: installing ${wanted}`);
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  const { status } = spawnSync('npm', ['install', '--prefix', part, ...flags, '--fetch-retries=1', wanted], {
    cwd: part,
    stdio: ['ignore', 2, 2],
    timeout: TIMEOUT_MS,
    shell: process.platform === 'win32',
  });
  rmSync(folder, { recursive: true, force: true });
  if (status === 0) renameSync(part, folder);
}
