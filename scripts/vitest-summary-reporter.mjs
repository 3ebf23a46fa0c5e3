import { readFileSync, writeFileSync } from 'node:fs';

const STATES = ['passed', 'failed', 'skipped', 'pending'];

/**
 * A last line that any CI can read. One `npm test` runs the tests on several versions of Node: a file that it names
 * carries the counts from run to run, so that the last line has them all.
 */
export default class ClosingLine {
  onTestRunEnd(modules) {
    const file = process.env.COLIBRI_TEST_COUNTS;
    const counts = readCounts(file);
    for (const module of modules) for (const test of module.children.allTests()) counts[test.result().state] += 1;
    if (file !== undefined) writeFileSync(file, JSON.stringify(counts));
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}

function readCounts(file) {
  const none = Object.fromEntries(STATES.map((state) => [state, 0]));
  return file === undefined ? none : { ...none, ...JSON.parse(readFileSync(file, 'utf8')) };
}
