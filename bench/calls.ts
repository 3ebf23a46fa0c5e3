import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { judge, renderReport } from './calls/report.ts';
import { collectResults } from './calls/results.ts';

const HELP = `npm run bench -- [options]

  --json      the results as JSON
  --check     exit code 1 if a limit is exceeded
  --write     also saves the report as bench/results/calls.md (or calls-smallest.md)
  --memory    also measures memory after 10,000 and 100,000 calls (takes minutes)
  --smallest  the smallest write and read behind the five stages, instead of task_create and task_get
  --quick     a tenth of the calls: to check that it runs, not to quote`;

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    memory: { type: 'boolean', default: false },
    smallest: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) console.log(HELP);
else await run();

async function run(): Promise<void> {
  const plan = values.quick
    ? { warmUpCalls: 100, rounds: 20, callsPerRound: 5, starts: 3 }
    : { warmUpCalls: 1000, rounds: 100, callsPerRound: 10, starts: 20 };
  const results = await collectResults({ ...plan, memory: values.memory, smallest: values.smallest });
  const findings = judge(results);
  const report = renderReport(results);
  if (values.json)
    console.log(JSON.stringify({ ...results, timings: Object.fromEntries(results.timings), findings }, null, 2));
  else console.log(report);
  if (values.write)
    writeFileSync(
      fileURLToPath(new URL(`../../bench/results/calls${values.smallest ? '-smallest' : ''}.md`, import.meta.url)),
      `# What a call costs\n\nWritten by \`npm run bench -- --write\`.\n\n${report}`,
    );
  if (values.check && findings.some(({ verdict }) => verdict === 'MISSED')) process.exitCode = 1;
}
