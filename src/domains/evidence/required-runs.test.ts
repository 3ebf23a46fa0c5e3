import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import type { ObservedRun } from '../../integrity/evidence/compare.ts';
import { canBeRequired, listMissing } from './required-runs.ts';

const time = (second: number) => new Date(Date.UTC(2026, 3, 8) + second * 1000).toISOString();

const run = (entry: number, exitCode: number | null, fields: Partial<ObservedRun> = {}): ObservedRun => ({
  entry,
  at: time(entry),
  begunAt: time(entry),
  command: 'npm test',
  exitCode,
  outcome: exitCode === null ? 'unknown' : exitCode === 0 ? 'ok' : 'failed',
  ...fields,
});
const edit = (entry: number, at = entry) => ({ entry, at: time(at) });

/** The reason and the entry for `npm test`, or undefined if nothing is missing. */
function missing(runs: readonly ObservedRun[], edits = [edit(10)]): unknown {
  const [first] = listMissing(['npm test'], { runs, edits });
  return first === undefined ? undefined : [first.reason, first.entry];
}

describe('a required run', () => {
  promiseTest('required/refused', 'the last run since the last edit whose exit is known decides', () => {
    expect(missing([])).toEqual(['never', undefined]);
    expect(missing([run(11, 0)])).toBeUndefined();
    expect(missing([run(1, 0)], [])).toBeUndefined();
    expect(missing([run(11, 0), run(12, 3)])).toEqual(['failed', 12]);
    expect(missing([run(12, 0), run(11, 3)])).toBeUndefined();
    expect(missing([run(11, 0), run(12, null)])).toBeUndefined();
    expect(missing([run(11, 2), run(12, null)])).toEqual(['failed', 11]);
    expect(missing([run(9, 0), run(11, null)])).toEqual(['unknown', 11]);
    expect(missing([run(8, 1), run(9, 0)])).toEqual(['edited', 9]);
    expect(missing([run(11, null, { outcome: 'failed' })])).toEqual(['failed', 11]);
  });

  promiseTest('required/refused', 'a run counts after the edit in the log and by the clock', () => {
    expect(missing([run(11, 0, { begunAt: time(9) })])).toEqual(['edited', 11]);
    expect(missing([run(9, 0, { at: time(99), begunAt: time(99) })])).toEqual(['edited', 9]);
    expect(missing([run(20, 0)], [edit(10), edit(12, 30)])).toEqual(['edited', 20]);
    expect(missing([run(20, 0)], [edit(30, 10), edit(12)])).toEqual(['edited', 20]);
  });

  promiseTest('required/people', 'a command can be required if its exit code can say that it exited 0', () => {
    const required = ['npm test', 'cd app && npm test', 'CI=1 npm test 2>&1', 'npm run lint && npm test', '(npm test)'];
    const refused = ['npm test | tail', 'npm test || true', 'npm test; true', 'npm test &', 'a; b && c', 'a || b'];
    expect(required.filter((command) => !canBeRequired(command))).toEqual([]);
    expect(refused.filter(canBeRequired)).toEqual([]);
  });
});
