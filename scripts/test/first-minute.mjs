// `npm run first-minute [-- 18 20 22 24]`: plays what a new user does on several versions of Node, from a clone and
// from the packed archive, as a user without privileges and, where Node has its own SQLite, without a compiler. Needs a
// registry.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFromNpm } from './node-from-npm.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const place = mkdtempSync(join(tmpdir(), 'colibri-first-minute-'));
/** The npm that comes with each Node. */
const NPM_VERSIONS = { 18: '10.9.9', 20: '10.9.9', 22: '10.9.9', 24: '12.2.0' };
const TOOLS = ['sh', 'env', 'git', 'script', 'uname', 'sed', 'dirname', 'basename', 'readlink', 'cat'];
const MAX_SECONDS = 60;
const MAX_BYTES = 2_000_000;
const REFUSAL = 'Colibri needs Node 20.19 or later; this is 18.20';
const NETWORK = /^(?:https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_(?:file|dir))$/i;
const TITLE = 'Rotate the signing key';

const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: 65_534, gid: 65_534 } : {};
const failures = [];
const majors = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(NPM_VERSIONS);

chmodSync(place, 0o755);
const sources = prepareSources();
for (const major of majors) for (const source of ['clone', 'archive']) await play(major, source);
rmSync(place, { recursive: true, force: true });
for (const failure of failures) console.error(`failed: ${failure}`);
console.error(`first minute: ${failures.length === 0 ? 'all as promised' : `${failures.length} failed`}`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** A bundle, because git does not clone a repository of another user, and the archive that npm would publish. */
function prepareSources() {
  must(run('git', ['bundle', 'create', join(place, 'colibri.bundle'), 'HEAD'], { cwd: root }));
  must(run('npm', ['pack', '--pack-destination', place, '--loglevel=error'], { cwd: root }));
  const archive = readdirSync(place).find((name) => name.endsWith('.tgz'));
  return { clone: join(place, 'colibri.bundle'), archive: join(place, archive) };
}

async function play(major, source) {
  const name = `Node ${major}, ${source}`;
  const machine = createMachine(major, source);
  if (machine === undefined) return report(`${name}: npm cannot install this version of Node`, false);
  const session = { ...machine, name };
  const start = performance.now();
  if (major === '18') return expectRefusal(session, source);
  if (!(source === 'clone' ? buildClone(session) : installArchive(session, major))) return;
  await connect(session);
  const seconds = (performance.now() - start) / 1000;
  const isInTime = major !== '24' || seconds < MAX_SECONDS;
  report(
    `${name}: ${source === 'clone' ? 'git clone' : 'npm install'} to the first board: ${seconds.toFixed(1)} s`,
    isInTime,
  );
}

/** A home folder, a Node with its npm, and little else. */
function createMachine(major, source) {
  const [running] = process.versions.node.split('.');
  const node = running === major ? process.execPath : nodeFromNpm(major);
  if (node === undefined) return undefined;
  const home = join(place, `${major}-${source}`);
  const [bin, npm] = [join(home, 'bin'), join(home, 'npm')];
  for (const folder of [home, bin, npm]) mkdirSync(folder);
  copyFileSync(realpathSync(node), join(bin, 'node'));
  writeFileSync(join(npm, 'package.json'), '{"private":true}');
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--force'];
  must(run('npm', ['install', ...flags, `npm@${NPM_VERSIONS[major]}`], { cwd: npm }));
  const cli = join(npm, 'node_modules/npm/bin/npm-cli.js');
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\nexec "${bin}/node" "${cli}" "$@"\n`, { mode: 0o755 });
  const needsCompiler = major === '20';
  for (const tool of needsCompiler ? [] : TOOLS) linkTool(tool, bin);
  for (const folder of [home, bin]) if (isRoot) chownSync(folder, user.uid, user.gid);
  const env = {
    HOME: home,
    PATH: [join(home, '.local/bin'), bin, ...(needsCompiler ? [process.env.PATH] : [])].join(delimiter),
    LANG: 'C.UTF-8',
    TERM: 'xterm',
    ...networkSettings(),
    // Only for a machine whose headers of Node lie elsewhere.
    ...(needsCompiler && npmSetting('nodedir') !== 'undefined' ? { npm_config_nodedir: npmSetting('nodedir') } : {}),
  };
  return { home, env };
}

function linkTool(name, bin) {
  const path = process.env.PATH.split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
  if (path !== undefined) symlinkSync(path, join(bin, name));
}

/** How this machine reaches the registry. */
function networkSettings() {
  const variables = Object.entries(process.env).filter(([name]) => NETWORK.test(name));
  const settings = ['registry', 'cafile'].map((name) => [`npm_config_${name}`, npmSetting(name)]);
  const known = settings.filter(([, value]) => !['', 'null', 'undefined'].includes(value));
  return Object.fromEntries([...variables, ...known]);
}

function npmSetting(name) {
  return run('npm', ['config', 'get', name, '--loglevel=error'], { cwd: place }).stdout.trim();
}

function expectRefusal({ home, env, name }, source) {
  const as = { env, cwd: home, ...user };
  if (source === 'clone') {
    must(run('git', ['clone', '-q', sources.clone, 'colibri'], as));
    const { status, stderr } = run('npm', ['run', 'build'], { ...as, cwd: join(home, 'colibri') });
    return report(`${name}: npm run build is refused in one line`, status === 78 && stderr.includes(REFUSAL), stderr);
  }
  run('npm', ['install', '-g', '--prefix', join(home, '.local'), sources.archive], as);
  for (const args of [[], ['board'], ['verify']]) {
    const { status, stdout, stderr } = run('colibri', args, as);
    const isRight = status === 78 && stdout === '' && stderr === `${REFUSAL}\n`;
    report(`${name}: colibri ${args.join(' ')} is refused in one line`, isRight, stdout + stderr);
  }
}

/** What the README says. */
function buildClone({ home, env, name }) {
  const as = { env, cwd: home, ...user };
  const clone = join(home, 'colibri');
  const steps = [
    ['git', ['clone', '-q', sources.clone, 'colibri'], home],
    ['npm', ['run', 'build'], clone],
  ];
  for (const [command, args, cwd] of steps) {
    const { status, stdout, stderr } = run(command, args, { ...as, cwd });
    if (!report(`${name}: ${command} ${args[0]} ${args[1]}`, status === 0, stdout + stderr)) return false;
  }
  asUser(() => {
    mkdirSync(join(home, '.local/bin'), { recursive: true });
    symlinkSync(join(clone, 'dist/colibri.cjs'), join(home, '.local/bin/colibri'));
  });
  const { status, stderr } = run('npm', ['run', 'nosuch'], { ...as, cwd: clone });
  return report(
    `${name}: npm reports an unknown script`,
    status === 1 && /Missing script: "nosuch"/.test(stderr),
    stderr,
  );
}

function installArchive({ home, env, name }, major) {
  const as = { env, cwd: home, ...user };
  const prefix = join(home, '.local');
  const { status, stdout, stderr } = run('npm', ['install', '-g', '--prefix', prefix, sources.archive], as);
  if (!report(`${name}: npm install -g --prefix ~/.local`, status === 0, stdout + stderr)) return false;
  const files = listFiles(join(prefix, 'lib/node_modules'));
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const native = files.filter((file) => file.endsWith('.node')).length;
  const isRight = major === '20' ? native === 1 : native === 0 && bytes < MAX_BYTES;
  return report(`${name}: ${bytes} bytes installed, ${native} native modules`, isRight);
}

/** A project with a client: init, doctor, a call through the command that init wrote, and the board on a terminal. */
async function connect({ home, env, name }) {
  const project = join(home, 'project');
  asUser(() => mkdirSync(project));
  const as = { env, cwd: project, ...user };
  must(run('git', ['init', '-q'], as));
  const bare = terminal('colibri', as);
  report(
    `${name}: colibri shows the help on a terminal, and creates nothing`,
    bare.includes('Usage: colibri') && readdirSync(project).join() === '.git',
    bare,
  );
  const init = run('colibri', ['init', '--instructions', 'claude-code'], as);
  report(`${name}: colibri init`, init.status === 0 && init.stdout.includes('To connect:'), init.stdout + init.stderr);
  const doctor = run('colibri', ['doctor'], as);
  report(
    `${name}: colibri doctor sees the server answer`,
    doctor.status === 0 && / answers$/m.test(doctor.stdout),
    doctor.stdout,
  );
  const { command, args } = JSON.parse(readFileSync(join(project, '.mcp.json'), 'utf8')).mcpServers.colibri;
  const answer = await createTask(command, args, as);
  report(`${name}: a client creates a task`, answer.includes('T-0001'), answer);
  const board = terminal('colibri', as);
  report(`${name}: colibri shows the board on a terminal`, board.includes(TITLE), board);
}

/** On a pseudo-terminal of `script`, where there is one. */
function terminal(line, as) {
  const { status, stdout, stderr } = run('script', ['-qec', line, '/dev/null'], as);
  return status === null ? `no pseudo-terminal: ${stderr}` : stdout;
}

async function createTask(command, args, as) {
  const child = spawn(command, args, { ...as, stdio: ['pipe', 'pipe', 'ignore'] });
  const chunks = [];
  child.stdout.setEncoding('utf8').on('data', (chunk) => chunks.push(chunk));
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'first-minute', version: '1' },
  };
  const call = { name: 'task_create', arguments: { title: TITLE, status: 'todo' } };
  const messages = [
    { id: 1, method: 'initialize', params },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: call },
  ];
  for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  child.stdin.end();
  await once(child, 'close');
  return chunks.join('');
}

function listFiles(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** File operations that the user would do in a shell. */
function asUser(work) {
  if (!isRoot) return work();
  process.setegid(user.gid);
  process.seteuid(user.uid);
  try {
    return work();
  } finally {
    process.seteuid(0);
    process.setegid(0);
  }
}

function run(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', input: '', ...options });
  return { status, stdout: stdout ?? '', stderr: stderr ?? error?.message ?? '' };
}

function must({ status, stdout, stderr }) {
  if (status !== 0) throw new Error(`the preparation failed: ${stdout}${stderr}`);
}

function report(what, isRight, text = '') {
  console.error(`${isRight ? '✓' : '✗'} ${what}`);
  if (!isRight) {
    failures.push(what);
    console.error(text);
  }
  return isRight;
}
