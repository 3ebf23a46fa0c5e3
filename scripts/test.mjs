// `npm test`: everything that must hold, in the order in which it fails fastest. Arguments are passed to vitest.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => `${root}node_modules/.bin/${name}`;

setUp();
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
    '--reporter=./scripts/closing-line.mjs',
    ...process.argv.slice(2),
  ],
  ['generated documents', process.execPath, 'scripts/generate.mjs', '--check'],
];
for (const [name, command, ...args] of checks) {
  console.error(`\n── ${name}`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`\n${name}: failed`);
    process.exit(1);
  }
}
