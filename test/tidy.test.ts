import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { promiseTest } from './support/promise-test.ts';
import { CLAIM_FILES, findClaimProblems } from './tidy/claims.ts';
import {
  findCrowdedFolders,
  findSubjectProblem,
  listFiles,
  listIgnoredButCommitted,
  listSubjects,
} from './tidy/repository.ts';
import { RULES, type Rule } from './tidy/rules.ts';
import { SAMPLES, type Sample } from './tidy/samples.ts';

const files = listFiles().filter((path) => existsSync(path));

const texts = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]));

describe('every file', () => {
  for (const rule of RULES) {
    promiseTest('tidy/rules', rule.says, () => {
      const problems = files.flatMap((path) => problemsOf(rule, path, texts.get(path) ?? ''));
      expect(problems).toEqual([]);
      expect(files.some((path) => rule.appliesTo(path))).toBe(true);
    });
  }

  promiseTest('tidy/rules', 'is one that git does not ignore', () => {
    expect(listIgnoredButCommitted()).toEqual([]);
  });
});

describe('every folder', () => {
  promiseTest('tidy/rules', 'has about 15 code files and 26 test files at most', () => {
    expect(findCrowdedFolders(files)).toEqual([]);
  });

  promiseTest('tidy/rules', 'counts code and tests of every folder, without declarations', () => {
    const many = (name: (index: number) => string) => Array.from({ length: 30 }, (_, index) => name(index));
    expect(findCrowdedFolders(many((index) => `src/a/b${index}.ts`))).toEqual(['src/a has 30 files; the limit is 17']);
    for (const folder of ['scripts', 'web/views', 'test/support', 'bench', 'torture', 'examples'])
      expect(findCrowdedFolders(many((index) => `${folder}/b${index}.mjs`))).toHaveLength(1);
    expect(findCrowdedFolders(many((index) => `test/a/b${index}.test.ts`))).toEqual([
      'test/a has 30 tests; the limit is 26',
    ]);
    for (const suffix of ['.d.ts', '.sql', '.md'])
      expect(findCrowdedFolders(many((index) => `src/a/b${index}${suffix}`))).toEqual([]);
    expect(findCrowdedFolders(many((index) => `src/a${index}/b.ts`))).toEqual([]);
  });
});

describe('a claim about security', () => {
  const known = new Set(files);
  for (const path of CLAIM_FILES)
    promiseTest('tidy/claims', path, () => {
      expect(findClaimProblems(path, texts.get(path) ?? '', known)).toEqual([]);
    });

  const test = 'test/tidy.test.ts';
  for (const [text, problems] of [
    [`- a claim\n  over two lines ([tidy](../${test}))\n- another ([tidy](../${test}))\n\ntext\n`, 0],
    ['- what no test can show (untested)\n', 0],
    [`| a | test |\n| --- | --- |\n| b | [tidy](../${test}) |\n`, 0],
    ['- a claim\n', 1],
    [`- a claim\n- another ([tidy](../${test}))\n`, 1],
    [`- a claim ([gone](../test/gone.test.ts))\n`, 1],
    ['| a | b |\n| --- | --- |\n| c | d |\n| e | f |\n', 2],
  ] as const)
    promiseTest('tidy/claims', `${problems} problems in ${JSON.stringify(text)}`, () => {
      expect(findClaimProblems('docs/trust.md', text, known)).toHaveLength(problems);
    });
});

describe('a commit subject', () => {
  promiseTest('tidy/rules', 'names a folder and has at most 72 characters', () => {
    expect(listSubjects().flatMap((subject) => findSubjectProblem(subject) ?? [])).toEqual([]);
  });

  for (const subject of [`docs: ${'x'.repeat(67)}`, 'Fix the tests', 'docs:', 'wip'])
    promiseTest('tidy/rules', `is refused: ${subject}`, () => {
      expect(findSubjectProblem(subject)).toBeDefined();
    });

  for (const subject of [`docs: ${'x'.repeat(66)}`, 'src/db, test: open a file once', 'Revert "docs: add a page"'])
    promiseTest('tidy/rules', `is accepted: ${subject}`, () => {
      expect(findSubjectProblem(subject)).toBeUndefined();
    });
});

describe('a rule', () => {
  it('has samples for every rule', () => {
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
