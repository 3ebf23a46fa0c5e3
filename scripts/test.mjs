// `npm test`: everything that must hold, in the order in which it fails fastest. Arguments are passed to vitest.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;

setUp();
const counts = `${root}node_modules/.cache/colibri-test-counts.json`;
mkdirSync(`${root}node_modules/.cache`, { recursive: true });
writeFileSync(counts, '{}');
const env = { ...process.env, COLIBRI_TEST_COUNTS: counts };
const isWhole = process.argv.length === 2;
const checks = [
  ['format and lint', bin('biome'), 'check', '--error-on-warnings'],
  ['types', bin('tsc'), '--noEmit'],
  ['type-aware lint', bin('oxlint'), '--type-aware', '--deny-warnings'],
  ['unused code', bin('knip')],
  [
    'tests',
    bin('vitest'),
    'run',
    '--reporter=default',
    '--reporter=./scripts/vitest-summary-reporter.mjs',
    ...process.argv.slice(2),
  ],
  // Whoever names files wants those.
  ...(isWhole ? [['tests on other versions of Node', process.execPath, 'scripts/test-drivers.mjs']] : []),
  ['generated documents', process.execPath, 'scripts/generate.mjs', '--check'],
];
for (const [name, command, ...args] of checks) {
  console.error(`\n── ${name}`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env });
  if (status !== 0) {
    console.error(`\n${name}: failed`);
    process.exit(1);
  }
}
