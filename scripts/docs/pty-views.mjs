// Prints the views of a project's ledger in real pseudo-terminals of 40 to 120 columns, to be looked at.
// Usage: npm run views -- FOLDER. Builds the program, and needs `script` of util-linux.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpBuild } from '../setup.mjs';

const program = fileURLToPath(new URL('../../dist/colibri.js', import.meta.url));
const VIEWS = [
  'board',
  'list -n 10',
  'log -n 10',
  'show 1',
  'timeline 1',
  'next',
  'agents',
  'brief',
  'doctor',
  'verify',
  '--help',
];
const folder = resolve(process.argv[2] ?? '.');

setUpBuild();
await (await import('../build/build.mjs')).buildAll();

for (const columns of [40, 60, 80, 120])
  for (const view of VIEWS) {
    console.log(`\n──── ${columns} columns: colibri ${view}`);
    const command = `stty cols ${columns} rows 50; '${process.execPath}' '${program}' ${view}`;
    const { status, error } = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: folder, stdio: 'inherit' });
    if (error) throw error;
    if (status !== 0) process.exitCode = 1;
  }
