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
      'npm test -> rc 0': 0,
      'npm test (rc=2)': 2,
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
      'npm test: all unit tests passed': 'zero',
      'npm test (unit: 42 passed)': 'zero',
      'npm test - green': 'zero',
      'npm test (all green)': 'zero',
      'npm test: all good': 'zero',
      'npm test: 42 tests pass, none fail': 'zero',
      'npm test failed': 'nonzero',
      'npm test: 41 passed, 1 failed': 'nonzero',
      'npm test (2 failures)': 'nonzero',
      'npm test ❌': 'nonzero',
    });
  });

  promiseTest('evidence/statements', 'what is denied or unclear is not guessed', () => {
    expectAll({
      'npm test: not passed': 'unclear',
      'npm test (did not fail)': 'unclear',
      "npm test: doesn't pass": 'unclear',
      'npm test: unsuccessful': 'unclear',
      'npm test: no test passed': 'unclear',
      'npm test: should pass': 'unclear',
      'npm test: mostly green': 'unclear',
      'npm test: error handling passes': 'unclear',
      'npm test: failing tests pass now': 'unclear',
      'npm test: HTTP status 200': 'unclear',
      'npm test: passport suite': 'unclear',
      'npm test: tokens': 'unclear',
      'npm test (unit tests only)': 'unclear',
      'npm test: all suites': 'unclear',
      'npm test: exit unknown': 'unclear',
      'npm test (exit 12345678901)': 'unclear',
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
