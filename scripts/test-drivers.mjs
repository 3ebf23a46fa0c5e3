// Runs the tests that depend on the SQLite driver on the Node versions that have a built-in one, all at the same time.
// `npm test` calls it after the tests on the running Node, which build the program these tests start. A version that
// npm cannot install is reported and skipped.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { NODE_VERSIONS, nodeFromNpm } from './node-from-npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [running] = process.versions.node.split('.');
const majors = Object.keys(NODE_VERSIONS).filter((major) => major !== running);
const programs = majors.map((major) => [NODE_VERSIONS[major], nodeFromNpm(major)]);
const available = programs.filter(([, node]) => node !== undefined);

for (const [version, node] of programs)
  if (node === undefined) console.error(`colibri: npm cannot install Node ${version}; its SQLite driver is not tested`);
const statuses = await Promise.all(available.map(([version, node]) => testDriver(version, node)));
if (statuses.some((status) => status !== 0)) process.exit(1);

/** Prints the output as one block when the run ends, so that the runs do not mix their lines. */
function testDriver(version, node) {
  // The mode selects the files: see vitest.config.ts.
  const args = [
    'run',
    '--mode',
    'drivers',
    '--project',
    'sqlite',
    `--maxWorkers=${Math.floor(100 / available.length)}%`,
  ];
  const reporters = ['--reporter=default', '--reporter=./scripts/vitest-summary-reporter.mjs'];
  const child = spawn(node, [`${root}node_modules/vitest/vitest.mjs`, ...args, ...reporters], { cwd: root });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve) => {
    child.on('close', (status) => {
      console.error(`\n── tests of the SQLite driver of Node ${version}`);
      process.stdout.write(Buffer.concat(chunks));
      resolve(status);
    });
  });
}
