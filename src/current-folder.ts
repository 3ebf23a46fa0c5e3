/** The message is a sentence for people. */
export class FolderDeleted extends Error {
  constructor(cause: unknown) {
    super('the current folder was deleted; change to another one', { cause });
  }
}

/** An agent can delete the folder in which it was started, for instance a git worktree. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new FolderDeleted(error);
  }
}
