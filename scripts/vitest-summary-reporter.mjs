import { appendFileSync, readFileSync } from 'node:fs';

const STATES = ['passed', 'failed', 'skipped'];

/**
 * Prints the counts as a last line for CI. `npm test` runs vitest several times, on several versions of Node: each run
 * appends its counts to the file that COLIBRI_TEST_COUNTS names, and prints the sum of all runs so far.
 */
export default class SummaryReporter {
  onTestRunEnd(modules) {
    const counts = Object.fromEntries(STATES.map((state) => [state, 0]));
    for (const module of modules) for (const test of module.children.allTests()) counts[test.result().state] += 1;
    const runs = [...appendCounts(counts)];
    const sum = (state) => runs.reduce((total, run) => total + run[state], 0);
    console.log(STATES.map((state) => `${sum(state)} ${state}`).join(', '));
  }
}

function appendCounts(counts) {
  const file = process.env.COLIBRI_TEST_COUNTS;
  if (file === undefined) return [counts];
  appendFileSync(file, `${JSON.stringify(counts)}\n`);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}
