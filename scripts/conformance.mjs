// `npm run conformance`: runs the MCP Inspector, the official conformance suite and the official MCPB manifest check
// against the built program. They need a newer Node than Colibri, and network access on the first run: npm installs
// them below node_modules. Not part of `npm test`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';
import { nodeFromNpm } from './test/node-from-npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = `${root}node_modules/.cache/colibri-conformance`;
const program = `${root}dist/colibri.cjs`;
// Every server that the checks start uses a temporary ledger, and the checkers write no files to the user's home.
const env = { ...process.env, HOME: cache, COLIBRI_MODE: 'TEST', COLIBRI_LOG_LEVEL: 'error' };
const failures = [];

setUp();
install({
  '@anthropic-ai/mcpb': '2.1.2',
  '@modelcontextprotocol/inspector': '2.12.0',
  'suite-of-2025': 'npm:@modelcontextprotocol/conformance@0.1.16',
  // No stable release supports the newest revision.
  'suite-of-2026': 'npm:@modelcontextprotocol/conformance@0.2.0-alpha.12',
});
const node = nodeFromNpm(24);
if (node === undefined) {
  console.error('conformance: npm could not install Node 24: nothing was checked');
  process.exit(2);
}
await (await import('./build/build.mjs')).buildAll();

for (const era of ['legacy', 'modern']) inspect(era);
await runSuite('2025', '--suite', 'all');
await runSuite('2026', '--requirements', '2026-07-28');
await validateBundle();
for (const failure of failures) console.error(`failed: ${failure}`);
console.error(`conformance: ${failures.length === 0 ? 'all as expected' : `${failures.length} failed`}`);
process.exitCode = failures.length === 0 ? 0 : 1;

function install(dependencies) {
  const wanted = JSON.stringify({ private: true, dependencies }, undefined, 2);
  const stamp = `${cache}/installed.json`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${cache}/package.json`, wanted);
  console.error('conformance: installing the checkers');
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  const { status } = spawnSync('npm', ['install', ...flags], { cwd: cache, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    console.error(`conformance: npm could not install ${Object.keys(dependencies).join(', ')}: nothing was checked`);
    process.exit(2);
  }
  writeFileSync(stamp, wanted);
}

/** The Inspector's exit codes: 0, or 6 for a schema with an error (--strict), or 5 for an answer that is an error. */
function inspect(era) {
  const call = (tool, args) => ['tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
  const runs = [
    [['tools/list', '--strict'], 0, ({ tools }) => tools.length === 14],
    [call('server_health', {}), 0, ({ structuredContent }) => structuredContent.data.status === 'ok'],
    [call('task_create', { title: 'Try it' }), 0, ({ structuredContent }) => structuredContent.data.sequence === 1],
    [call('task_get', { task_id: 'T-9999' }), 5, ({ isError }) => isError === true],
    [call('task_get', { task_id: 7 }), 5, ({ structuredContent }) => structuredContent.error.code === 'INVALID_PARAMS'],
  ];
  const inspector = binary('@modelcontextprotocol/inspector', 'inspector');
  const server = Object.entries(env).filter(([name]) => name.startsWith('COLIBRI_'));
  const variables = server.flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  for (const [method, code, isRight] of runs) {
    const args = [inspector, '--cli', node, program, ...variables, '--protocol-era', era, '--method', ...method];
    const { status, stdout, stderr } = spawnSync(node, args, { env, encoding: 'utf8' });
    report(`inspector, ${era}: ${method.join(' ')}`, status === code && isRight(JSON.parse(stdout)), stderr);
  }
}

/** Runs the server behind the bridge while the suite runs. */
async function runSuite(year, ...selection) {
  const bridge = spawn(node, ['--no-warnings', `${root}test/conformance/bridge.ts`, node, program], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [url] = await once(bridge.stdout.setEncoding('utf8'), 'data');
    const expected = `${root}test/conformance/expected-failures-${year}.yml`;
    const args = ['server', '--url', url.trim(), ...selection, '--expected-failures', expected];
    const { status, stdout, stderr } = await collect(
      spawn(node, [binary(`suite-of-${year}`, 'conformance'), ...args], { env }),
    );
    report(`conformance suite, ${selection.join(' ')}`, status === 0, stdout + stderr);
    console.error(`   ${/^Total: .*$/m.exec(stdout)?.[0] ?? 'no total'}; those that failed are listed in ${expected}`);
  } finally {
    bridge.kill();
  }
}

async function validateBundle() {
  const { unzipSync } = await import('fflate');
  spawnSync(process.execPath, [`${root}scripts/build/mcpb.mjs`], { stdio: 'inherit' });
  const manifest = `${cache}/manifest.json`;
  writeFileSync(manifest, unzipSync(readFileSync(`${root}colibri.mcpb`))['manifest.json']);
  const args = [binary('@anthropic-ai/mcpb', 'mcpb'), 'validate', manifest];
  const { status, stdout, stderr } = spawnSync(node, args, { env, encoding: 'utf8' });
  report('mcpb validate', status === 0, stdout + stderr);
}

async function collect(child) {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (texts[name] += text));
  const [status] = await once(child, 'close');
  return { status, ...texts };
}

function binary(name, command) {
  const folder = `${cache}/node_modules/${name}`;
  const { bin } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  return `${folder}/${typeof bin === 'string' ? bin : bin[command]}`;
}

function report(what, isRight, text) {
  console.error(`${isRight ? '✓' : '✗'} ${what}`);
  if (isRight) return;
  failures.push(what);
  console.error(text);
}
