import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './program.ts';

/** Tells whether a program that was run with these variables has started a thread since the last time. */
export function countThreads(folder: string): { readonly env: Environment; readonly hasStarted: () => boolean } {
  const [hook, trace] = [join(folder, 'count-threads.cjs'), join(folder, 'thread-was-started')];
  writeFileSync(
    hook,
    `const threads = require('node:worker_threads');
     threads.Worker = class extends threads.Worker {
       constructor(...args) {
         super(...args);
         require('node:fs').writeFileSync(${JSON.stringify(trace)}, '');
       }
     };
     require('node:module').syncBuiltinESMExports();`,
  );
  return {
    env: { NODE_OPTIONS: `--require ${JSON.stringify(hook)}` },
    hasStarted: () => {
      const isThere = existsSync(trace);
      rmSync(trace, { force: true });
      return isThere;
    },
  };
}
