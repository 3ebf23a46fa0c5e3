// Run by the build: runs what the argument names and stores the code that V8 compiled for it.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadForCache } from '../../dist/load-program.js';

const RUNS = {
  /** Serves one connection. */
  program: (load) => load('program').run([]),
  /** Adds the event on standard input to the spool. */
  hook: (load) => load('hook').run(['hook']),
  /** Adds the spool to the ledger, as a hook does when the agent has stopped. */
  ingest: async (load, loadAlone) => {
    const filled = await loadAlone('hook').run(['hook']);
    if (filled === undefined) throw new Error('the event that the build reports ends no session');
    await load('ingest').ingestAfterHook(filled);
  },
};

const open = (name) => loadForCache(fileURLToPath(new URL(`../../dist/${name}.cjs`, import.meta.url)));

await RUNS[process.argv[2]](
  (name) => {
    const { exports, cachePath, createCache } = open(name);
    process.on('exit', () => writeFileSync(cachePath, createCache()));
    return exports;
  },
  (name) => open(name).exports,
);
