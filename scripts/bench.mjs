// `npm run bench [-- postgres|contention] [options]`: runs bench/calls.ts, or the named program, on the built server.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

setUp();
const [{ buildAll }, { bundle }] = await Promise.all([import('./build/build.mjs'), import('./build/bundle.mjs')]);
await buildAll();
await bundle({
  entryPoints: {
    calls: 'bench/calls.ts',
    postgres: 'bench/postgres.ts',
    contention: 'bench/contention.ts',
    'bare-loop': 'bench/calls/bare-loop.ts',
    'echo-server': 'bench/calls/echo-server.ts',
    'minimal-server': 'bench/calls/minimal-server.ts',
    'postgres-bare': 'bench/postgres/bare.ts',
  },
  outdir: 'dist/bench',
});
const isNamed = ['postgres', 'contention'].includes(process.argv[2]);
const [program, args] = isNamed ? [process.argv[2], process.argv.slice(3)] : ['calls', process.argv.slice(2)];
const { status } = spawnSync(process.execPath, [`dist/bench/${program}.js`, ...args], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
