import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { always } from '../../../test/support/properties.ts';
import { readStatements, type StatedExit } from './statement.ts';

/** The exit that the item states for the command; `absent` if no reading names the command. */
function stated(item: string, command = 'npm test'): StatedExit | 'absent' | undefined {
  const reading = readStatements(item).find((statement) => statement.command === command);
  return reading === undefined ? 'absent' : reading.exit;
}

function expectAll(expected: Readonly<Record<string, unknown>>): void {
  expect(Object.fromEntries(Object.keys(expected).map((item) => [item, stated(item)]))).toEqual(expected);
}

describe('an item of tests_run', () => {
  promiseTest('evidence/statements', 'a command alone says nothing about its exit', () => {
    expectAll({
      'npm test': undefined,
      ' npm test ': undefined,
      '`npm test`': undefined,
      '$ npm test': undefined,
      'npm test (unit tests only)': undefined,
      'npm test: all suites': undefined,
    });
  });

  promiseTest('evidence/statements', 'an exit code in words is that code', () => {
    expectAll({
      'npm test (exit 1)': 1,
      'npm test (exit code 0)': 0,
      'npm test: exit status 137': 137,
      'npm test exited with code 2': 2,
      'npm test -> exit=0': 0,
      '`npm test` → exit: 3': 3,
      'npm test [exit 0, 42 passed]': 0,
    });
  });

  promiseTest('evidence/statements', 'words of success and failure', () => {
    expectAll({
      'npm test passed': 'zero',
      'npm test: passed': 'zero',
      'npm test (42 passed)': 'zero',
      'npm test - 42 passed, 0 failed': 'zero',
      'npm test, all green and ok': 'zero',
      'npm test ✓': 'zero',
      'npm test: no failures': 'zero',
      'npm test failed': 'nonzero',
      'npm test: 41 passed, 1 failed': 'nonzero',
      'npm test (2 failures)': 'nonzero',
      'npm test ❌': 'nonzero',
    });
  });

  promiseTest('evidence/statements', 'what is denied or unclear is not guessed', () => {
    expectAll({
      'npm test: not passed': undefined,
      'npm test (did not fail)': undefined,
      'npm test: unsuccessful': undefined,
      'npm test: passport suite': undefined,
      'npm test: tokens': undefined,
      'npm test: exit unknown': undefined,
      'npm test (exit 12345678901)': undefined,
    });
    expect(stated('passed')).toBe('absent');
    expect(stated('42 passed')).toBe('absent');
    expect(stated('npm test -- passed', 'npm test -- passed')).toBe(undefined);
  });

  promiseTest('evidence/statements', 'any text is read, in linear time', () => {
    always(
      fc.property(fc.string({ unit: 'binary', maxLength: 512 }), (item) => {
        const readings = readStatements(item);
        expect(readings.length).toBeGreaterThan(0);
        expect(readings.length).toBeLessThanOrEqual(4);
      }),
    );
    for (const unit of ['(', '[', ': ', ' - ', 'exit ', ' ', '`', '-> ', 'no fail ', '✓'])
      expect(readStatements(unit.repeat(512)).length).toBeGreaterThan(0);
  });
});
