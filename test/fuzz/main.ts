import { parseArgs } from 'node:util';
import { findSlowInputs, OperationCounter, QUADRATIC } from './growth.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, runs: { type: 'string', default: '110000' }, only: { type: 'string' } },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const runs = Number(values.runs);
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(runs) || runs < 1)
  throw new Error('--seed and --runs are whole numbers');
console.log(`seed ${seed}`);

// Code that ran before is not counted, so the parsers are loaded now.
const counter = new OperationCounter();
const { fuzz, TARGETS } = await import('./fuzz.ts');
const slow: string[] = [];
for (const target of TARGETS) slow.push(...(await findSlowInputs(counter, target)));
if ((await findSlowInputs(counter, QUADRATIC)).length === 0)
  throw new Error('the counter of operations does not count');
counter.close();
for (const line of slow) console.log(`FAILED: ${line}`);

const results = await fuzz({
  seed,
  runs,
  only: values.only,
  onTarget: ({ name, inputs, accepted, problem }) =>
    console.log(
      problem === undefined ? `${name}: ${inputs} inputs, ${accepted} accepted` : `${name}: FAILED\n${problem}`,
    ),
});
console.log(`${results.reduce((sum, { inputs }) => sum + inputs, 0)} inputs, seed ${seed}`);
process.exitCode = slow.length > 0 || results.some(({ problem }) => problem !== undefined) ? 1 : 0;
