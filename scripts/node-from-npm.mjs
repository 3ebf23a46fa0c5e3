// Other versions of Node, from npm, into a folder below node_modules: each brings another SQLite driver and engine.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The one place that pins them. Published for every platform that Node itself is built for. */
export const NODE_VERSIONS = { 22: '22.23.2', 24: '24.21.0' };

const CACHE = fileURLToPath(new URL('../node_modules/.cache/colibri-node', import.meta.url));

/** The path of the program; undefined where npm cannot get it: no network, no such platform, a registry without it. */
export function nodeFromNpm(major, cache = CACHE) {
  const version = NODE_VERSIONS[major];
  const folder = `${cache}/${version}`;
  // The package named `node` fetches this one by a script, and npm may be set to run none.
  const name = `node${process.platform === 'darwin' && process.arch === 'arm64' ? '-bin' : ''}-${process.platform.replace('win32', 'win')}-${process.arch}`;
  const program = `${folder}/node_modules/${name}/bin/node${process.platform === 'win32' ? '.exe' : ''}`;
  if (!existsSync(program)) install(folder, `${name}@${version}`);
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 && stdout.trim() === `v${version}` ? program : undefined;
}

/** Under another name until it is complete: an interrupted installation must not look like a finished one. */
function install(folder, wanted) {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  // Without a package of its own here, npm would install into the project.
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
