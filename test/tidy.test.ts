import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { promiseTest } from './support/promise-test.ts';
import { RULES, type Rule } from './support/tidy-rules.ts';
import { SAMPLES, type Sample } from './support/tidy-samples.ts';

/** Every file that is or would be committed. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '' && existsSync(path));

const texts = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]));

describe('every file', () => {
  for (const rule of RULES) {
    promiseTest('tidy/rules', rule.says, () => {
      const problems = files.flatMap((path) => problemsOf(rule, path, texts.get(path) ?? ''));
      expect(problems).toEqual([]);
      expect(files.some((path) => rule.appliesTo(path))).toBe(true);
    });
  }
});

describe('a rule', () => {
  it('has samples, each of them', () => {
    expect(SAMPLES.map(({ says }, index) => says.test(RULES[index]?.says ?? ''))).toEqual(RULES.map(() => true));
  });

  for (const [index, { bad, good }] of SAMPLES.entries()) {
    const rule = RULES[index] as Rule;
    for (const [path, text] of bad.map(plain))
      promiseTest('tidy/rules', `"${rule.says}" is broken by ${path}: ${JSON.stringify(text.slice(0, 60))}`, () => {
        expect(problemsOf(rule, path, text)).not.toEqual([]);
      });
    for (const [path, text] of good.map(plain))
      promiseTest('tidy/rules', `"${rule.says}" is kept by ${path}: ${JSON.stringify(text.slice(0, 60))}`, () => {
        expect(problemsOf(rule, path, text)).toEqual([]);
      });
  }
});

function plain([path, text]: Sample): Sample {
  return [path, text.replaceAll('~', '')];
}

function problemsOf(rule: Rule, path: string, text: string): string[] {
  return rule.appliesTo(path) ? rule.findProblems(path, text).map((problem) => `${path}: ${problem}`) : [];
}
