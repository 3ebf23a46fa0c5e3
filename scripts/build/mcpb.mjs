// `npm run mcpb`: builds colibri.mcpb, which desktop clients install. It has no native module, so it needs a Node with
// built-in SQLite, which those clients have.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpPackages } from '../setup.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const outfile = `${root}colibri.mcpb`;
const SKILLS = '.agents/skills';

setUpPackages();
const [{ strToU8, zipSync }, { buildAll }] = await Promise.all([import('fflate'), import('./build.mjs')]);
await buildAll();
const source = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const files = {
  'manifest.json': json(createManifest(source)),
  // The program reads its version from this file, and Node reads the module type.
  'package.json': json({ name: source.name, version: source.version, type: source.type, license: source.license }),
  ...readFiles(['dist/colibri.cjs', 'dist/start.cjs', 'dist/program.cjs', 'LICENSE', 'README.md', ...listSkills()]),
};
// A fixed date makes the build reproducible.
writeFileSync(outfile, zipSync(files, { level: 9, mtime: new Date(2000, 0, 1) }));
console.error(`colibri: ${outfile}, ${Math.round(statSync(outfile).size / 1000)} KB`);

function createManifest({ name, version, description, author, license, homepage, repository, keywords }) {
  return {
    manifest_version: '0.3',
    name,
    display_name: 'Colibri',
    version,
    description,
    author: { name: author },
    repository: { type: 'git', url: repository.url.replace(/^git\+/, '') },
    homepage,
    license,
    keywords,
    server: {
      type: 'node',
      entry_point: 'dist/colibri.cjs',
      mcp_config: {
        command: 'node',
        args: [inBundle('dist/colibri.cjs')],
        env: {
          COLIBRI_DB_PATH: variable('user_config.ledger'),
          ...(existsSync(root + SKILLS) ? { COLIBRI_SKILLS_PATH: inBundle(SKILLS) } : {}),
        },
      },
    },
    tools: listTools(),
    compatibility: { platforms: ['darwin', 'linux', 'win32'], runtimes: { node: '>=22.16.0' } },
    user_config: {
      // A desktop client does not start servers in a project folder, so the ledger needs an absolute path.
      ledger: {
        type: 'string',
        title: 'Ledger',
        description: 'The file in which tasks and decisions are kept',
        default: `${variable('HOME')}/.colibri/colibri.db`,
        required: true,
      },
    },
  };
}

/** The tools as the built program lists them. */
function listTools() {
  const request = (id, method, params) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const input = [
    request(0, 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'mcpb', version: '0' },
    }),
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    request(1, 'tools/list', {}),
  ];
  const { stdout } = spawnSync(process.execPath, [`${root}dist/colibri.cjs`], {
    input: `${input.join('\n')}\n`,
    env: { ...process.env, COLIBRI_MODE: 'TEST', COLIBRI_LOG_LEVEL: 'error' },
    encoding: 'utf8',
  });
  const answers = stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  return answers.find(({ id }) => id === 1).result.tools.map(({ name, description }) => ({ name, description }));
}

function inBundle(path) {
  return `${variable('__dirname')}/${path}`;
}

/** A placeholder that the client replaces with the value. */
function variable(name) {
  return `\${${name}}`;
}

function listSkills() {
  if (!existsSync(root + SKILLS)) return [];
  return readdirSync(root + SKILLS, { recursive: true, encoding: 'utf8' })
    .map((name) => join(SKILLS, name).replaceAll('\\', '/'))
    .filter((path) => statSync(root + path).isFile())
    .sort();
}

function readFiles(paths) {
  return Object.fromEntries(paths.map((path) => [path, readFileSync(root + path)]));
}

function json(value) {
  return strToU8(`${JSON.stringify(value, undefined, 2)}\n`);
}
