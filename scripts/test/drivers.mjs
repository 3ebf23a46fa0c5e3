// Runs the tests that depend on the SQLite driver on the Node versions that have a built-in one, one after the other:
// `npm test` runs them beside the tests on the running Node. They use what is built. A version that npm cannot install
// is reported and skipped.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { NODE_VERSIONS, nodeFromNpm } from './node-from-npm.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [running] = process.versions.node.split('.');
/** The mode selects the files: see vitest.config.ts. */
const ARGUMENTS = ['run', '--mode', 'drivers', '--project', 'sqlite', '--maxWorkers=50%'];
const REPORTERS = ['--reporter=default', '--reporter=./scripts/test/vitest-summary-reporter.mjs'];

for (const [major, version] of Object.entries(NODE_VERSIONS)) {
  if (major === running) continue;
  const node = nodeFromNpm(major);
  if (node === undefined) console.error(`colibri: npm cannot install Node ${version}; its SQLite driver is not tested`);
  else testDriver(version, node);
}

function testDriver(version, node) {
  console.error(`\n── tests of the SQLite driver of Node ${version}`);
  const args = [`${root}node_modules/vitest/vitest.mjs`, ...ARGUMENTS, ...REPORTERS];
  const { status } = spawnSync(node, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
