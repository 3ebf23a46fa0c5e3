// `npm test`: every check that must pass, the fastest first. Arguments are passed to vitest.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUpPackages } from '../setup.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;

setUpPackages();
const summaries = `${root}node_modules/.cache/colibri-test-summaries.jsonl`;
mkdirSync(`${root}node_modules/.cache`, { recursive: true });
writeFileSync(summaries, '');
const env = { ...process.env, COLIBRI_TEST_SUMMARIES: summaries };
const vitest = (...args) => [
  bin('vitest'),
  'run',
  '--reporter=default',
  '--reporter=./scripts/test/vitest-summary-reporter.mjs',
  ...args,
];
/** Coverage of the files that the server contract names, measured on its own tests. */
const coverage = vitest('--project', 'sqlite', '--mode', 'coverage', '--coverage', '--silent');
const isWhole = process.argv.length === 2;
const running = new Set();

const checks = [
  // Takes a minute of one core, if it has to be compiled.
  check('SQLite module', [process.execPath, 'scripts/sqlite-module.cjs']),
  check('format and lint', [bin('biome'), 'check', '--error-on-warnings']),
  check('types', [bin('tsc'), '--noEmit']),
  check('types of the page', [bin('tsc'), '--noEmit', '-p', 'web']),
  check('type-aware lint', [bin('oxlint'), '--type-aware', '--deny-warnings']),
  check('unused code', [bin('knip')]),
];
if (isWhole) {
  const build = check('build', [process.execPath, 'scripts/test/build.mjs']);
  // Other versions of Node need no module, so their tests use the core that its compiler leaves idle.
  const drivers = build.then(() =>
    check('tests on other versions of Node', [process.execPath, 'scripts/test/drivers.mjs']),
  );
  await all([...checks, build]);
  env.COLIBRI_TEST_IS_BUILT = '1';
  // Together, because the tests of the first often wait for processes of their own.
  await all([show('tests', vitest('--mode', 'whole')), drivers, drivers.then(() => check('coverage', coverage))]);
} else {
  await all(checks);
  await all([show('tests', vitest(...process.argv.slice(2)))]);
}
await all([check('generated documents', [process.execPath, 'scripts/docs/generate.mjs', '--check'])]);
printCounts();

/** Waits for all of them, prints what they have kept, failures last, and ends the program if one failed. */
async function all(checks) {
  const done = await Promise.all(checks);
  const failed = done.filter(({ hasFailed }) => hasFailed);
  for (const { output } of [...done.filter(({ hasFailed }) => !hasFailed), ...failed]) process.stderr.write(output);
  if (failed.length === 0) return;
  for (const { failures } of testRuns()) for (const text of failures) console.error(`\n${text}`);
  for (const { name } of failed) console.error(`\n${name}: failed`);
  printCounts();
  for (const child of running) child.kill();
  process.exit(1);
}

/** Runs a command and keeps its output, for commands that run at the same time. */
async function check(name, [command, ...args]) {
  const child = spawn(command, args, { cwd: root, stdio: ['inherit', 'pipe', 'pipe'], env });
  const chunks = [Buffer.from(`\n── ${name}\n`)];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const hasFailed = await fails(child);
  return { name, hasFailed, output: Buffer.concat(chunks) };
}

/** Runs a command on this terminal. */
async function show(name, [command, ...args]) {
  console.error(`\n── ${name}`);
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', env });
  return { name, hasFailed: await fails(child), output: Buffer.alloc(0) };
}

async function fails(child) {
  running.add(child);
  const code = await new Promise((resolve) => child.on('close', resolve));
  running.delete(child);
  return code !== 0;
}

/** The last line for CI: the sum of all runs of vitest, on all versions of Node. */
function printCounts() {
  const runs = testRuns();
  const sum = (state) => runs.reduce((total, { counts }) => total + counts[state], 0);
  console.log(['passed', 'failed', 'skipped'].map((state) => `${sum(state)} ${state}`).join(', '));
}

/** What the summary reporter of each run of vitest has written. */
function testRuns() {
  const lines = readFileSync(summaries, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
