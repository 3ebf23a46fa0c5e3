import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/**
 * Code files of a folder: about 15, and some folders have one or two more. Declarations, SQL and documents do not
 * count.
 */
const MAX_FILES = 17;

/**
 * Test files of a folder. A folder has all tests of one room, named after what they try, and configuration and
 * documents name them by that prefix; a reader opens one of them and not the folder.
 */
const MAX_TESTS = 26;

const MAX_SUBJECT = 72;

/** Commits before this second, when the rule was made, may have longer subjects. */
const FIRST_CHECKED_SECOND = Date.UTC(2026, 10, 16, 6) / 1000;

/** Every file that is or would be committed; without git, every file outside the folders that git ignores. */
export function listFiles(): string[] {
  const listed = runGit(['ls-files', '--cached', '--others', '--exclude-standard', '-z']);
  if (listed !== undefined) return listed.split('\0').filter((path) => path !== '');
  const ignored = /^(?:\.git|\.colibri|dist|node_modules)(?:\/|$)/;
  return readdirSync('.', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.replace(/^\.\//, ''))
    .filter((path) => !ignored.test(path));
}

/** Files that are committed although .gitignore names them, such as a built module. */
export function listIgnoredButCommitted(): string[] {
  const listed = runGit(['ls-files', '--cached', '--ignored', '--exclude-standard', '-z']) ?? '';
  return listed.split('\0').filter((path) => path !== '');
}

/** Subjects of commits that the rule covers; none without git, and in a shallow clone only those that it has. */
export function listSubjects(): string[] {
  const log = runGit(['log', '--no-merges', '--format=%ct %s']) ?? '';
  return log
    .split('\n')
    .map((line) => /^(\d+) (.*)$/.exec(line))
    .filter((match) => Number(match?.[1]) >= FIRST_CHECKED_SECOND)
    .map((match) => match?.[2] ?? '');
}

export function findSubjectProblem(subject: string): string | undefined {
  if (subject.length > MAX_SUBJECT) return `"${subject}" has ${subject.length} characters; the limit is ${MAX_SUBJECT}`;
  if (!/^(?:Revert ".|[\w./-]+(?:, [\w./-]+)*: \S)/.test(subject)) return `"${subject}" does not begin with a folder`;
  return undefined;
}

const CODE = /^(?:src|test|web|bench|torture|scripts|examples)\/.*(?<!\.d)\.[cm]?[jt]s$/;

/** Folders that have more than MAX_FILES code files or MAX_TESTS tests. */
export function findCrowdedFolders(paths: readonly string[]): string[] {
  const code = paths.filter((path) => CODE.test(path));
  const isTest = (path: string) => path.endsWith('.test.ts');
  return [
    ...findCrowded(
      code.filter((path) => !isTest(path)),
      'files',
      MAX_FILES,
    ),
    ...findCrowded(code.filter(isTest), 'tests', MAX_TESTS),
  ];
}

function findCrowded(paths: readonly string[], what: string, limit: number): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.slice(0, path.lastIndexOf('/'));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > limit)
    .map(([folder, count]) => `${folder} has ${count} ${what}; the limit is ${limit}`);
}

function runGit(args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26 });
  } catch {
    return undefined;
  }
}
