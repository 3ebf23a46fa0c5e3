// The tests that depend on the SQLite driver, on the versions of Node that bring their own. Called by `npm test` after the
// tests on the running Node, which build what these need; where npm cannot get a version, it says so and goes on.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { NODE_VERSIONS, nodeFromNpm } from './node-from-npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [running] = process.versions.node.split('.');

for (const major of Object.keys(NODE_VERSIONS).filter((other) => other !== running)) {
  const node = nodeFromNpm(major);
  if (node === undefined) {
    console.error(`colibri: Node ${NODE_VERSIONS[major]} cannot be had from npm here; its SQLite driver is not tested`);
    continue;
  }
  console.error(`\n── tests of the SQLite driver of Node ${NODE_VERSIONS[major]}`);
  const vitest = `${root}node_modules/vitest/vitest.mjs`;
  // The mode selects the files: see vitest.config.ts.
  const args = [
    'run',
    '--mode',
    'drivers',
    '--project',
    'sqlite',
    '--reporter=dot',
    '--reporter=./scripts/vitest-summary-reporter.mjs',
  ];
  const { status } = spawnSync(node, [vitest, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
