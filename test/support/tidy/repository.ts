import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/** Tests, declarations, SQL and documents do not count. */
const MAX_FILES = 17;
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

/** Folders below src, bench, torture and scripts that have more than MAX_FILES code files. */
export function findCrowdedFolders(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    if (!/^(?:src|bench|torture|scripts)\/.*(?<!\.test|\.d)\.m?[jt]s$/.test(path)) continue;
    const folder = path.slice(0, path.lastIndexOf('/'));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > MAX_FILES)
    .map(([folder, count]) => `${folder} has ${count} files; the limit is ${MAX_FILES}`);
}

function runGit(args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26 });
  } catch {
    return undefined;
  }
}
