import { dirname, posix } from 'node:path';

/** Documents in which each item of a list and each row of a table is a claim, and names the tests that show it. */
export const CLAIM_FILES = ['SECURITY.md', 'docs/trust.md'];

/** What a claim says that no test shows. */
const UNTESTED = '(untested)';
const TEST_LINK = /\]\(([^)\s]+\.test\.ts)\)/g;

/** What is wrong with the claims of a document: no test is named, or one that is not there. */
export function findClaimProblems(path: string, text: string, files: ReadonlySet<string>): string[] {
  return listClaims(text).flatMap((claim) => {
    const tests = [...claim.matchAll(TEST_LINK)].map(([, link = '']) => posix.join(dirname(path), link));
    if (tests.length === 0 && !claim.includes(UNTESTED)) return [`names no test: ${claim.slice(0, 80)}`];
    return tests.filter((test) => !files.has(test)).map((test) => `names ${test}, which is not there`);
  });
}

function listClaims(text: string): string[] {
  const blocks = text.split(/\n(?=- |\||\n)/);
  const items = blocks.map((block) => block.trim()).filter((block) => block.startsWith('- '));
  return [...items, ...listRows(text.split('\n'))];
}

/** The rows below the line of dashes. */
function listRows(lines: readonly string[]): string[] {
  let isBody = false;
  return lines.filter((line) => {
    const isRow = line.startsWith('|');
    const isRule = /^\|[\s|:-]+$/.test(line);
    const isClaim = isRow && isBody && !isRule;
    isBody = isRow && (isBody || isRule);
    return isClaim;
  });
}
