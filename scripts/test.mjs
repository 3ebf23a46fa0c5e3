// `npm test`: every check that must pass, the fastest first. Arguments are passed to vitest.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;

setUp();
const counts = `${root}node_modules/.cache/colibri-test-counts.jsonl`;
mkdirSync(`${root}node_modules/.cache`, { recursive: true });
writeFileSync(counts, '');
const env = { ...process.env, COLIBRI_TEST_COUNTS: counts };
/** Of the files that the server contract names, by its own tests. */
const COVERAGE = ['--project', 'sqlite', '--mode', 'coverage', '--coverage', '--silent'];
const isWhole = process.argv.length === 2;
const reporters = ['--reporter=default', '--reporter=./scripts/vitest-summary-reporter.mjs'];

await Promise.all([
  check('format and lint', [bin('biome'), 'check', '--error-on-warnings'], 'pipe'),
  check('types', [bin('tsc'), '--noEmit'], 'pipe'),
  check('type-aware lint', [bin('oxlint'), '--type-aware', '--deny-warnings'], 'pipe'),
  check('unused code', [bin('knip')], 'pipe'),
]);
const chosen = isWhole ? ['--mode', 'whole'] : process.argv.slice(2);
await check('tests', [bin('vitest'), 'run', ...reporters, ...chosen], 'inherit');
if (isWhole) await check('coverage', [bin('vitest'), 'run', ...reporters, ...COVERAGE], 'inherit');
if (isWhole) await check('tests on other versions of Node', [process.execPath, 'scripts/test-drivers.mjs'], 'inherit');
await check('generated documents', [process.execPath, 'scripts/docs/generate.mjs', '--check'], 'inherit');

/** Ends the program if the command fails. Piped output is printed as one block, for commands that run together. */
async function check(name, [command, ...args], stdio) {
  const begin = () => console.error(`\n── ${name}`);
  if (stdio === 'inherit') begin();
  const child = spawn(command, args, { cwd: root, stdio: ['inherit', stdio, stdio], env });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => chunks.push(chunk));
  const status = await new Promise((resolve) => child.on('close', resolve));
  if (stdio === 'pipe') {
    begin();
    process.stderr.write(Buffer.concat(chunks));
  }
  if (status === 0) return;
  console.error(`\n${name}: failed`);
  process.exit(1);
}
