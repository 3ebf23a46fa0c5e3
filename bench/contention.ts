import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Measured, measure, type Script } from './contention-run.ts';
import { allTools, creates, peerCreates } from './contention-scripts.ts';
import { Workplace } from './servers.ts';

const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '1,4,12,32' },
    cases: { type: 'string', default: 'full,relaxed,mix' },
    seconds: { type: 'string', default: '5' },
    peer: { type: 'string' },
  },
});
const dist = fileURLToPath(new URL('..', import.meta.url));
console.log(`node ${process.versions.node} on ${cpus().length} × ${cpus()[0]?.model}\n`);
const workplace = new Workplace();
let run = 0;
const colibri = (durability: string) => () => {
  run += 1;
  const env = {
    COLIBRI_LOG_LEVEL: 'error',
    COLIBRI_DB_PATH: workplace.path(`${run}.db`),
    COLIBRI_DURABILITY: durability,
    XT: process.env['XT'] ?? '2',
    XA: process.env['XA'] ?? '4',
  };
  return { file: join(dist, 'colibri.js'), env };
};
const CASES: Record<string, { program: () => { file: string; env: Record<string, string> }; script: Script }> = {
  full: { program: colibri('full'), script: creates },
  relaxed: { program: colibri('relaxed'), script: creates },
  mix: { program: colibri('full'), script: allTools },
  peer: {
    program: () => {
      run += 1;
      mkdirSync(workplace.path(String(run)));
      return {
        file: values.peer ?? '',
        env: { DATABASE_PATH: join(workplace.path(String(run)), 'tasks.db'), LOG_LEVEL: 'fatal' },
      };
    },
    script: peerCreates,
  },
};
console.log(
  '| case | servers | calls/s | of one | CPU ms/call | longest wait ms | slowest/mean |\n|---|---:|---:|---:|---:|---:|---:|',
);
for (const name of values.cases.split(',')) {
  let one: Measured | undefined;
  for (const servers of values.servers.split(',').map(Number)) {
    const { program, script } = CASES[name] as (typeof CASES)[string];
    const result = await measure(program(), script, servers, Number(values.seconds));
    one ??= result;
    console.log(
      `| ${name} | ${servers} | ${result.perSecond.toFixed(0)} | ${((result.perSecond / one.perSecond) * 100).toFixed(0)} % | ${result.cpuMsPerCall.toFixed(2)} | ${result.longestWaitMs.toFixed(0)} | ${(result.slowest * 100).toFixed(0)} % |`,
    );
  }
}
await workplace.close();
