import type { HookConfig } from '../../config.ts';
import { canonicalize } from '../../integrity/canonical-json.ts';
import { blankSecrets } from '../secrets/blank.ts';

/** Characters of paths. */
const LENGTHS: Readonly<Record<HookConfig['level'], number>> = { digests: 0, excerpts: 4096, full: 16_384 };
const MAX_PATH_LENGTH = 4096;
const MAX_BRANCH_LENGTH = 256;
const HEADS = 'refs/heads/';

interface Readable {
  readonly branch: string | undefined;
  readonly paths: readonly string[];
  readonly hasMorePaths: boolean;
}

/** Canonical JSON of what a person can read about a commit. Paths are whole; `cut` says that there are more. */
export function writeCommitContent({ branch, paths, hasMorePaths }: Readable, level: HookConfig['level']): string {
  const kept: string[] = [];
  let left = LENGTHS[level];
  for (const path of paths.map((path) => line(blankSecrets(path)))) {
    if (path.length > Math.min(left, MAX_PATH_LENGTH)) continue;
    left -= path.length;
    kept.push(path);
  }
  const name = branch === undefined || level === 'digests' ? undefined : line(blankSecrets(branch));
  return canonicalize({
    paths: kept,
    ...(name !== undefined && name.trim() !== '' && { branch: name.slice(0, MAX_BRANCH_LENGTH).toWellFormed() }),
    ...((hasMorePaths || kept.length < paths.length) && { cut: true }),
  });
}

/** The name of a branch without the folder of git that it is in; a reference of another kind keeps its whole name. */
export function shortBranch(reference: string): string | undefined {
  const name = reference.trim();
  if (name === '') return undefined;
  return name.startsWith(HEADS) ? name.slice(HEADS.length) : name;
}

/** Git allows characters in names that are not valid in one line of text. */
function line(text: string): string {
  const clean = text.toWellFormed().replaceAll(/\p{Cc}/gu, '\ufffd');
  // A path can be a single blank.
  return clean.trim() === '' ? `"${clean}"` : clean;
}
