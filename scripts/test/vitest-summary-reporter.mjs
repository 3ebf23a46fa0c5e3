import { appendFileSync } from 'node:fs';

/**
 * Counts the tests for the last line of `npm test`, which runs vitest several times, on several versions of Node: each run
 * appends its counts to the file that COLIBRI_TEST_COUNTS names.
 */
export default class SummaryReporter {
  onTestRunEnd(modules) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) for (const test of module.children.allTests()) counts[test.result().state] += 1;
    appendFileSync(process.env.COLIBRI_TEST_COUNTS, `${JSON.stringify(counts)}\n`);
  }
}
