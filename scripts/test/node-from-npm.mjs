// Installs other versions of Node from npm below node_modules; each has a different SQLite and JavaScript engine.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The pinned versions. They are published for every platform that Node supports. */
export const NODE_VERSIONS = { 22: '22.23.2', 24: '24.21.0' };
/** The oldest supported line, and one that is too old. */
const OTHER_VERSIONS = { 18: '18.20.8', 20: '20.20.2' };

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/colibri-node', import.meta.url));

/**
 * The path of the executable; undefined if npm cannot install it (no network, unsupported platform, not in the
 * registry).
 */
export function nodeFromNpm(major, cache = CACHE) {
  const version = { ...OTHER_VERSIONS, ...NODE_VERSIONS }[major];
  const folder = `${cache}/${version}`;
  // The package `node` installs this one through a script, and npm may be configured to run no scripts.
  const name = `node${process.platform === 'darwin' && process.arch === 'arm64' ? '-bin' : ''}-${process.platform.replace('win32', 'win')}-${process.arch}`;
  const program = `${folder}/node_modules/${name}/bin/node${process.platform === 'win32' ? '.exe' : ''}`;
  if (!existsSync(program)) install(folder, `${name}@${version}`);
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 && stdout.trim() === `v${version}` ? program : undefined;
}

/** Installs under a temporary name, so that an interrupted installation does not look complete. */
function install(folder, wanted) {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  // Without a package.json here, npm would install into the project.
  writeFileSync(`${part}/package.json`, '{"private":true}');
  console.error(`colibri: installing ${wanted}`);
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  const network = ['--fetch-retries=0', '--fetch-timeout=60000'];
  const { status } = spawnSync('npm', ['install', '--prefix', part, ...flags, ...network, wanted], {
    cwd: part,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  rmSync(folder, { recursive: true, force: true });
  if (status === 0) renameSync(part, folder);
}
