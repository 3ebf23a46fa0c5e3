import { type GitOptions, runGit } from './run-git.ts';

/** The newest ones. */
const MAX_COMMITS = 500;
const MAX_FILE_BYTES = 65_536;

/** The contents that a file ever had in the commits that this repository knows, those of remote branches included. */
export async function listFileVersions(path: string, options: GitOptions): Promise<string[]> {
  const search = ['rev-list', '--all', '--full-history', `--max-count=${MAX_COMMITS}`, '--', `:(top,literal)${path}`];
  const commits = (await runGit(search, options)).split('\n').filter((sha) => sha !== '');
  if (commits.length === 0) return [];
  const names = commits.map((sha) => `${sha}:${path}\n`).join('');
  const found = await runGit(['cat-file', '--batch-check'], { ...options, input: names });
  const blobs = [...found.matchAll(/^([0-9a-f]{40,64}) blob (\d{1,9})$/gm)]
    .filter(([, , size]) => Number(size) <= MAX_FILE_BYTES)
    .map(([, blob = '']) => blob);
  const contents: string[] = [];
  for (const blob of new Set(blobs)) contents.push(await runGit(['cat-file', 'blob', blob], options));
  return contents;
}
