import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { always } from '../../../test/support/properties.ts';
import { parseCommandLine } from './command-line.ts';
import {
  compareCommit,
  compareTests,
  createRunFinder,
  type Evidence,
  exitIn,
  type FindRun,
  type ObservedRun,
  type Said,
} from './compare.ts';
import { readStatements } from './statement.ts';

const time = (second: number) => new Date(Date.UTC(2026, 3, 8) + second * 1000).toISOString();

/** A run that ended at this second; its entry has the same number. */
const run = (second: number, command: string, exitCode: number | null = 0): ObservedRun => ({
  entry: second,
  at: time(second),
  begunAt: time(second),
  command,
  exitCode,
  outcome: exitCode === null ? 'unknown' : exitCode === 0 ? 'ok' : 'failed',
});

const said = (value: string, second = 100, since = 0): Said => ({
  thought_id: 'Θ-0001',
  field: 'tests_run',
  value,
  at: time(second),
  since: time(since),
});

function compare(one: Said, ...runs: ObservedRun[]): Omit<Evidence, 'thought_id' | 'field' | 'value'> {
  const commands = readStatements(one.value).map(({ command }) => command);
  const { thought_id: _id, field: _field, value, ...rest } = compareTests(one, createRunFinder(runs, commands));
  expect(value).toBe(one.value);
  return rest;
}

/** What `createRunFinder` finds, without its index. */
function plainFinder(runs: readonly ObservedRun[]): FindRun {
  return ({ since, at }, command) => {
    const found = runs
      .filter((one) => one.at >= since && one.at <= at)
      .toSorted((a, b) => a.at.localeCompare(b.at) || a.entry - b.entry)
      .flatMap((one) => {
        const exit = exitIn(one, parseCommandLine(one.command), parseCommandLine(command));
        return exit === undefined ? [] : [{ run: one, exit }];
      });
    return found.findLast(({ exit }) => exit.hasRun) ?? found.at(-1);
  };
}

describe('a test that a thought names', () => {
  promiseTest('evidence/compare', 'without a run it is only said', () => {
    expect(compare(said('npm test'))).toEqual({ state: 'said' });
    expect(compare(said('npm test'), run(1, 'npm run test'))).toEqual({ state: 'said' });
    expect(compare(said('all unit tests passed'), run(1, 'npm test'))).toEqual({ state: 'said' });
  });

  promiseTest('evidence/compare', 'a command alone is observed with whatever exit code it had', () => {
    expect(compare(said('npm test'), run(1, 'npm test'))).toEqual({ state: 'observed', entry: 1, exit_code: 0 });
    expect(compare(said('npm test'), run(1, 'npm test', 7))).toEqual({ state: 'observed', entry: 1, exit_code: 7 });
    expect(compare(said('npm test'), run(1, 'npm test', null))).toEqual({ state: 'observed', entry: 1 });
    expect(compare(said('npm test'), run(1, 'npm test | tail'))).toEqual({ state: 'observed', entry: 1 });
    const interrupted = { ...run(1, 'npm test', null), outcome: 'failed' as const };
    expect(compare(said('npm test'), interrupted)).toEqual({ state: 'observed', entry: 1, failed: true });
  });

  promiseTest('evidence/compare', 'another exit code than the words state contradicts them', () => {
    const failed = { state: 'contradicted', entry: 1, exit_code: 2 };
    for (const words of ['npm test passed', 'npm test (exit 0)', 'npm test: exit 1', 'cd app && npm test ✓'])
      expect([words, compare(said(words), run(1, 'cd app && npm test', 2))]).toEqual([words, failed]);
    for (const words of ['npm test failed', 'npm test (exit 1)'])
      expect(compare(said(words), run(1, 'npm test'))).toEqual({ state: 'contradicted', entry: 1, exit_code: 0 });
    const interrupted = { ...run(1, 'npm test', null), outcome: 'failed' as const };
    expect(compare(said('npm test passed'), interrupted)).toEqual({ state: 'contradicted', entry: 1, failed: true });
    expect(compare(said('npm test failed'), interrupted)).toEqual({ state: 'observed', entry: 1, failed: true });
    expect(compare(said('npm test (exit 1)'), interrupted)).toEqual({ state: 'said', entry: 1, failed: true });
  });

  promiseTest('evidence/compare', 'a run whose exit code is unknown supports no words about it', () => {
    for (const line of ['npm test | tail -1', 'npm test || true', 'npm test; true', 'npm test &'])
      expect(compare(said('npm test passed'), run(1, line))).toEqual({ state: 'said', entry: 1 });
    expect(compare(said('npm test passed'), run(1, 'npm test', null))).toEqual({ state: 'said', entry: 1 });
    expect(compare(said('npm test'), run(1, 'npm run build && npm test', 1))).toEqual({ state: 'said', entry: 1 });
    expect(compare(said('npm test passed'), run(1, 'false || npm test'))).toEqual({ state: 'said', entry: 1 });
  });

  promiseTest('evidence/compare', 'words that are not understood stay said, whatever the exit code', () => {
    for (const words of ['npm test (unit tests only)', 'npm test: not passed', 'npm test, npm run lint']) {
      expect(compare(said(words), run(1, 'npm test'))).toEqual({ state: 'said', entry: 1, exit_code: 0 });
      expect(compare(said(words), run(1, 'npm test', 1))).toEqual({ state: 'said', entry: 1, exit_code: 1 });
    }
  });

  promiseTest('evidence/compare', 'the last run before the thought counts', () => {
    const runs = [run(1, 'npm test', 1), run(2, 'npm test'), run(200, 'npm test', 3)];
    expect(compare(said('npm test passed'), ...runs)).toEqual({ state: 'observed', entry: 2, exit_code: 0 });
    expect(compare(said('npm test passed', 300), ...runs)).toEqual({ state: 'contradicted', entry: 200, exit_code: 3 });
    expect(compare(said('npm test passed', 1), ...runs)).toMatchObject({ state: 'contradicted', entry: 1 });
    expect(compare(said('npm test', 0), ...runs)).toEqual({ state: 'said' });
    // Reported earlier and recorded later: the clock of the reports decides.
    const late = { ...run(5, 'npm test', 9), entry: 900 };
    expect(compare(said('npm test'), ...runs, late)).toMatchObject({ entry: 900, exit_code: 9 });
    // A line that may not have reached the command does not hide the run before it.
    expect(compare(said('npm test passed'), ...runs, run(3, 'npm run build && npm test', 1))).toMatchObject({
      state: 'observed',
      entry: 2,
    });
  });

  promiseTest('evidence/compare', 'a run of an earlier attempt says nothing about a later one', () => {
    const runs = [run(1, 'npm test'), run(60, 'npm test', 1)];
    expect(compare(said('npm test', 100, 50), ...runs)).toMatchObject({ entry: 60 });
    expect(compare(said('npm test', 100, 61), ...runs)).toEqual({ state: 'said' });
    expect(compare(said('npm test', 55, 50), ...runs)).toEqual({ state: 'said' });
  });

  promiseTest('evidence/compare', 'several commands in a row are compared as a row', () => {
    const runs = [run(1, 'cd app && npm run lint && npm test'), run(2, 'npm run lint; npm test', 4)];
    expect(compare(said('npm run lint && npm test'), ...runs)).toEqual({ state: 'observed', entry: 1, exit_code: 0 });
    expect(compare(said('npm test'), ...runs)).toEqual({ state: 'observed', entry: 2, exit_code: 4 });
    expect(compare(said('npm run lint'), ...runs)).toEqual({ state: 'observed', entry: 2 });
    expect(compare(said('cd app && npm run lint'), ...runs)).toEqual({ state: 'observed', entry: 1, exit_code: 0 });
    expect(compare(said('cd web && npm run lint'), ...runs)).toEqual({ state: 'said' });
  });

  promiseTest('evidence/compare', 'the index of runs finds what a plain search finds', () => {
    const commands = ['a', 'b', 'a && b', 'a passed', 'b (exit 1)', 'cd x && a', '(a)', 'a: failed'];
    const lines = [
      'a',
      'b',
      'a && b',
      'b && a && b',
      'a; a',
      'a || a',
      'cd x && a',
      '(a)',
      'a | b',
      'b && a',
      'CI=1 a',
    ];
    const anyRun = fc.record({
      second: fc.nat(9),
      entry: fc.nat(99),
      line: fc.constantFrom(...lines),
      exitCode: fc.constantFrom(0, 0, 1, 2, null),
    });
    const anySaid = fc.record({ value: fc.constantFrom(...commands), second: fc.nat(9), since: fc.nat(5) });
    always(
      fc.property(fc.uniqueArray(anyRun, { maxLength: 8, selector: ({ entry }) => entry }), anySaid, (all, one) => {
        const runs = all.map(({ second, entry, line, exitCode }) => ({ ...run(second, line, exitCode), entry }));
        const subject = said(one.value, one.second, one.since);
        const wanted = commands.flatMap((item) => readStatements(item).map(({ command }) => command));
        expect(compareTests(subject, createRunFinder(runs, wanted))).toEqual(compareTests(subject, plainFinder(runs)));
      }),
    );
  });
});

describe('a commit that a thought names', () => {
  const commit = { ...said('abcdef1'), field: 'commit_sha' as const };
  const state = (known: object) =>
    compareCommit(commit, { entry: undefined, isNamed: false, recordedSince: undefined, isThere: false, ...known });

  promiseTest('evidence/compare', 'a commit is contradicted only if commits were recorded before the thought', () => {
    expect(state({ entry: 9, recordedSince: time(1) })).toMatchObject({ state: 'observed', entry: 9 });
    expect(state({})).toMatchObject({ state: 'said' });
    expect(state({ recordedSince: time(101) })).toMatchObject({ state: 'said' });
    expect(state({ recordedSince: time(99) })).toEqual({
      thought_id: 'Θ-0001',
      field: 'commit_sha',
      value: 'abcdef1',
      state: 'contradicted',
    });
    expect(state({ recordedSince: time(99), isNamed: true })).toMatchObject({ state: 'said' });
    for (const isThere of [true, undefined])
      expect(state({ recordedSince: time(99), isThere })).toMatchObject({ state: 'said' });
  });
});
