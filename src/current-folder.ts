import { statSync } from 'node:fs';

/** The message is a sentence for people. */
export class UnusableFolder extends Error {}

/** An agent can delete the folder in which it was started, for instance a git worktree. */
export function currentFolder(): string {
  let folder: string;
  try {
    folder = process.cwd();
  } catch (cause) {
    throw new UnusableFolder('the current folder was deleted; change to another one', { cause });
  }
  if (folder.includes('\ufffd') && !isSame(folder, '.'))
    throw new UnusableFolder('the name of the current folder is not valid UTF-8; rename it, or change to another one');
  return folder;
}

/** Node replaces bytes that are not UTF-8, and the result is the path of another folder. */
function isSame(path: string, other: string): boolean {
  const [left, right] = [path, other].map((each) => statSync(each, { throwIfNoEntry: false }));
  return left !== undefined && left.ino === right?.ino && left.dev === right.dev;
}
