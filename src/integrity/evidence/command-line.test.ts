import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { promiseTest } from '../../../test/support/promise-test.ts';
import { always } from '../../../test/support/properties.ts';
import { type CallExit, exitOfSteps, parseCommandLine } from './command-line.ts';

const OK: CallExit = { exitCode: 0, outcome: 'ok' };
const FAILED: CallExit = { exitCode: 3, outcome: 'failed' };
const UNKNOWN: CallExit = { exitCode: null, outcome: 'unknown' };

/** What is known about `npm test` after each exit: its exit code, `failed`, `ran`, `maybe` or `absent`. */
function known(line: string): string[] {
  const [wanted] = parseCommandLine('npm test');
  const step = parseCommandLine(line).find(({ key }) => key === wanted?.key);
  return [OK, FAILED, UNKNOWN].map((call) => {
    if (step === undefined) return 'absent';
    const { hasRun, exitCode, outcome } = exitOfSteps([step], call);
    return outcome === 'unknown' ? (hasRun ? 'ran' : 'maybe') : `${exitCode ?? outcome}`;
  });
}

const ALONE = ['0', '3', 'ran'];
const AFTER_OTHERS = ['0', 'maybe', 'maybe'];
const RAN = ['ran', 'ran', 'ran'];
const MAYBE = ['maybe', 'maybe', 'maybe'];
const ABSENT = ['absent', 'absent', 'absent'];

const LINES: Readonly<Record<string, readonly [line: string, known: readonly string[]][]>> = {
  'the exit code is that of the command': [
    ['npm test', ALONE],
    ['  npm   test  ', ALONE],
    ['npm "test"', ALONE],
    ["'npm' te\\st", ALONE],
    ['npm \\\n  test', ALONE],
    ['npm test;', ALONE],
    ['\nnpm test\n\n', ALONE],
    ['CI=1 npm test', ALONE],
    ['MY_PATH=a LDAP=b npm test', ALONE],
    ['CI="a b" FORCE_COLOR=0 npm test', ALONE],
    ['env CI=1 npm test', ALONE],
    ['time npm test', ALONE],
    ['timeout 60 npm test', ALONE],
    ['cd app && npm test', ALONE],
    ['cd "my app" && CI=1 npm test', ALONE],
    ['cd app\nnpm test', ALONE],
    ['export CI=1; npm test', ALONE],
    ['npm test 2>&1', ALONE],
    ['npm test > out.txt 2> "err or.txt"', ALONE],
    ['npm test &> out.txt', ALONE],
    ['npm test < in.txt', ALONE],
    ['npm test # all of them', ALONE],
    ['bash -lc "npm test"', ALONE],
    ['bash -xc "npm test"', ALONE],
    ['set -x; npm test', ALONE],
    ['[ -d app ]; ~/bin/setup; ./a+b@1.sh; npm test', ALONE],
    ['command -v npm; npm test', ALONE],
    ["/bin/sh -c 'cd app && npm test'", ALONE],
    ['npm run lint; npm test', ALONE],
    ['printf "%s?" "$?" "$\u007bX:-?}"; npm test', ALONE],
    ['true # \\\n npm test', ALONE],
    ['cat in.txt | npm test', ALONE],
  ],
  'exit code 0 is that of every command, another may be that of any': [
    ['npm test && npm run lint', ['0', 'ran', 'ran']],
    ['npm test && > out.txt', ['0', 'ran', 'ran']],
    ['> out.txt && npm test', AFTER_OTHERS],
    ['set -o pipefail; cat in.txt | npm test', ['0', 'ran', 'ran']],
    ['npm run build && npm test', AFTER_OTHERS],
    ['npm run build &&\n npm test', AFTER_OTHERS],
    ['a && npm test && b', AFTER_OTHERS],
    ['set -e; npm run build; npm test', AFTER_OTHERS],
    ['set -u; echo $X; npm test', AFTER_OTHERS],
    ['set -o errexit -o nounset -o pipefail; npm run build; npm test', AFTER_OTHERS],
    ['set -euo pipefail\nnpm run build\nnpm test', AFTER_OTHERS],
  ],
  'the exit code says nothing about the command': [
    ['npm test | tail -5', RAN],
    ['npm test 2>&1 | tee log.txt', RAN],
    ['npm test |& cat', RAN],
    ['cd app && npm test | tail', RAN],
    ['npm test || true', RAN],
    ['npm test || exit 0 ', ABSENT],
    ['npm test; echo done', RAN],
    ['npm test\necho $?', RAN],
    ['npm test; > out.txt', RAN],
    ['npm test\n2>&1', RAN],
    ['npm test; X=1', RAN],
    ['npm test | > out.txt', RAN],
    ['npm test || > out.txt', RAN],
    ['npm test &', MAYBE],
    ['npm test & wait', MAYBE],
    ['true || npm test', MAYBE],
    ['false && npm test || true', MAYBE],
    ['a && npm test; b', MAYBE],
  ],
  'the command is not one of the line': [
    ['npm test -- one.test.ts', ABSENT],
    ['npm run test', ABSENT],
    ['npm tests', ABSENT],
    ['echo npm test', ABSENT],
    ['echo "npm test"', ABSENT],
    ["echo '&& npm test &&'", ABSENT],
    ['echo a\\&\\& npm test', ABSENT],
    ['true # && npm test', ABSENT],
    ['"npm test"', ABSENT],
    ['npm\u00a0test', ABSENT],
    ['npm\0 test', ABSENT],
    ['\u001b[2Knpm test', ABSENT],
    ['', ABSENT],
    ['&&', ABSENT],
    ['npm test &&', ABSENT],
    ['| npm test', ABSENT],
    ['npm test |', ABSENT],
    ['npm test ;; true', ABSENT],
    ['npm test > ', ABSENT],
    ['> out.txt', ABSENT],
  ],
  'the line cannot be read without a shell': [
    ['PATH=/tmp/fake npm test', ABSENT],
    ['PATH=/tmp/fake; npm test', ABSENT],
    ['export CI=1 PATH+=/tmp/fake && npm test', ABSENT],
    ['CI=1 env npm_config_script_shell=/bin/true npm test', ABSENT],
    ['NODE_OPTIONS="--require ./x.cjs" npm test', ABSENT],
    ['LD_PRELOAD=x.so timeout 9 npm test', ABSENT],
    ['BASH_ENV=x bash -c "npm test"', ABSENT],
    ['npm() { true; }; npm test', ABSENT],
    ['function npm { true; }; npm test', ABSENT],
    ['alias npm=true; npm test', ABSENT],
    ['exit 0 && npm test', ABSENT],
    ['exec true; npm test', ABSENT],
    ['trap "exit 0" EXIT; npm test', ABSENT],
    ['eval "$X"; npm test', ABSENT],
    ['! npm test', ABSENT],
    ['if npm test; then true; fi', ABSENT],
    ['for i in 1 2; do npm test; done', ABSENT],
    ['while false; do npm test; done', ABSENT],
    ['(npm test)', ABSENT],
    ['{ npm test; }', ABSENT],
    ['cat <<EOF\nnpm test\nEOF', ABSENT],
    ['cat <<< npm && npm test', ABSENT],
    ['echo "$(true "&& npm test &&" true)"', ABSENT],
    ['echo `true && npm test`', ABSENT],
    ['echo $(npm test)', ABSENT],
    ["echo $'\\' && npm test'", ABSENT],
    ['diff <(npm test) out.txt', ABSENT],
    ['npm test "unclosed', ABSENT],
    ["npm test 'unclosed", ABSENT],
    ['bash -c npm test', ABSENT],
    ['bash -nc "npm test"', ABSENT],
    ['bash -ec "npm test"', ABSENT],
    ['bash -ic "npm test"', ABSENT],
    ['bash +c "npm test"', ABSENT],
    ['bash -c "set -n; npm test"', ABSENT],
    ['set -n; npm test', ABSENT],
    ['set -en\nnpm test', ABSENT],
    ['set -o noexec; npm test', ABSENT],
    ['set -eo noexec; npm test', ABSENT],
    ['set -o; npm test', ABSENT],
    ['set +e; npm test', ABSENT],
    ['set -t; npm test', ABSENT],
    ['set -- a; npm test', ABSENT],
    ['set "$OPTIONS"; npm test', ABSENT],
    ['CI=1 set -n; npm test', ABSENT],
    ['command exit 0; npm test', ABSENT],
    ['command -p exit 0; npm test', ABSENT],
    ['command npm test', ABSENT],
    ['builtin exit 0; npm test', ABSENT],
    ["command trap 'exit 0' EXIT; npm test", ABSENT],
    ['time -p exit 0; npm test', ABSENT],
    ['source run.sh; npm test', ABSENT],
    ['. ./run.sh && npm test', ABSENT],
    ['shopt -s expand_aliases; npm test', ABSENT],
    ['hash -p /bin/true npm; npm test', ABSENT],
    ['enable -n test; npm test', ABSENT],
    ['setopt noexec; npm test', ABSENT],
    ['noglob exit 0; npm test', ABSENT],
    ['kill $$; npm test', ABSENT],
    ['X=exit; $X 0; npm test', ABSENT],
    ['"$X" 0; npm test', ABSENT],
    ['{exit,0}; npm test', ABSENT],
    ['ex?t; npm test', ABSENT],
    ['echo $\u007bX:?is not set}; npm test', ABSENT],
    [': "$\u007bX?}"; npm test', ABSENT],
    ['A=$\u007bX:?} && npm test', ABSENT],
    ['read PATH < in.txt; npm test', ABSENT],
    ['mapfile -t PATH < in.txt; npm test', ABSENT],
    ['printf -v PATH /tmp/fake; npm test', ABSENT],
    ['printf -vPATH /tmp/fake; npm test', ABSENT],
    ['bash -c "bash -c \\"bash -c \'bash -c npm\\ test\'\\""', ABSENT],
  ],
};

describe('a command line', () => {
  for (const [what, lines] of Object.entries(LINES))
    promiseTest('evidence/command-lines', what, () => {
      expect(Object.fromEntries(lines.map(([line]) => [line, known(line)]))).toEqual(Object.fromEntries(lines));
    });

  promiseTest('evidence/command-lines', 'a line that cannot be read is equal to the same line', () => {
    for (const line of ['(npm test)', 'for i in 1; do npm test; done', 'echo "$(date)"']) {
      expect(parseCommandLine(`  ${line}\n`)).toEqual(parseCommandLine(line));
      const [step, ...others] = parseCommandLine(line);
      expect([step?.key, others]).toEqual([line, []]);
      expect(exitOfSteps(step === undefined ? [] : [step], FAILED)).toMatchObject({ exitCode: 3, hasRun: true });
    }
  });

  promiseTest('evidence/command-lines', 'a failure without an exit code is a failure', () => {
    const steps = parseCommandLine('npm test');
    expect(exitOfSteps(steps, { exitCode: null, outcome: 'failed' })).toEqual({
      hasRun: true,
      exitCode: null,
      outcome: 'failed',
    });
    expect(exitOfSteps([], OK)).toMatchObject({ hasRun: false, outcome: 'unknown' });
  });

  promiseTest('evidence/command-lines', 'any text is read, and never as more than one line can hold', () => {
    const part = fc.oneof(
      fc.constantFrom(
        ' ',
        '&&',
        '||',
        ';',
        '|',
        '&',
        '\n',
        '"',
        "'",
        '\\',
        '$(',
        ')',
        '`',
        '<<',
        '>',
        '#',
        'npm',
        'A=1',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    always(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const steps = parseCommandLine(parts.join(''));
        expect(steps.length).toBeGreaterThan(0);
        expect(steps.filter(({ isLast }) => isLast).length).toBeLessThanOrEqual(1);
        for (const step of steps) expect(exitOfSteps([step], UNKNOWN).outcome).toBe('unknown');
      }),
    );
  });

  promiseTest('evidence/command-lines', 'a long line is read in linear time', () => {
    for (const unit of ['a ', 'a&&', '"', '\\', "'a'", '$', '>', '<(', 'A=1 ', '((', '\n', 'if ', '# ']) {
      const line = unit.repeat(Math.floor(16_384 / unit.length));
      expect(parseCommandLine(line)).toHaveLength(1);
    }
  });
});
