import { ByteReader } from './byte-reader.ts';
import { quotePath } from './quote-path.ts';
import { type GitOptions, startGit } from './run-git.ts';

/** A commit as the repository tells it. */
export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  /** The values of its trailers, unfolded. */
  readonly trailers: Readonly<Record<Trailer, readonly string[]>>;
  /** Compared with the first parent, quoted as git does where a path is not plain text. */
  readonly paths: readonly string[];
  readonly hasMorePaths: boolean;
}

export const TRAILERS = { task: 'Colibri-Task', checkpoint: 'Colibri-Checkpoint', ledger: 'Colibri-Ledger' } as const;
export type Trailer = keyof typeof TRAILERS;

/** Tells the ledgers of a team apart: each leaves its checkpoints in the commits of one repository. */
export function shortLedgerId(ledgerId: string): string {
  return ledgerId.slice(0, 8).replaceAll(/[^0-9a-f]/g, '-');
}

/** Without the configuration of the repository, which could hide a trailer behind another separator. */
export const TRAILER_SETTINGS = ['-c', 'trailer.separators=:'];
/** Lines of a commit for `--format`, in the order in which `parseHeader` reads them. */
export const HEADER_FORMAT = [
  '%H',
  '%T',
  '%P',
  ...Object.values(TRAILERS).map((key) => `%(trailers:key=${key},valueonly,unfold,separator=%x09)`),
].join('%n');

export const MAX_PATHS = 1000;
/** A grammar with a limit needs the same one on both sides of a comparison. */
const MAX_PARENTS = 64;
const MAX_HEADER_BYTES = 65_536;
const MAX_PATH_BYTES = 16_384;
const COMMAND = [
  ...TRAILER_SETTINGS,
  ...'diff-tree -z -r --root --always --raw --no-renames --no-abbrev --no-ext-diff --no-textconv'.split(' '),
  '--diff-merges=first-parent',
  '--encoding=UTF-8',
  `--format=${HEADER_FORMAT}`,
];
const NUL = 0;
const COLON = 0x3a;
const LINE_FEED = 0x0a;

/**
 * Reads commits with the paths that they changed, in the given order. Plumbing, so that no setting of a repository
 * shows a commit in another way or runs a program.
 */
export async function* readCommits(revisions: 'HEAD' | readonly string[], options: GitOptions): AsyncGenerator<Commit> {
  const isHead = revisions === 'HEAD';
  const { child, end } = startGit([...COMMAND, isHead ? 'HEAD' : '--stdin'], {
    ...options,
    input: isHead ? '' : revisions.map((sha) => `${sha}\n`).join(''),
  });
  const output = new ByteReader(child.stdout);
  let commit: (Commit & { readonly paths: string[]; hasMorePaths: boolean }) | undefined;
  for (;;) {
    const token = await output.until(NUL, MAX_HEADER_BYTES);
    if (token === undefined) break;
    // The first record of a commit begins on a new line.
    if (token[token[0] === LINE_FEED ? 1 : 0] === COLON) {
      const path = (await output.until(NUL, MAX_PATH_BYTES)) ?? Buffer.alloc(0);
      if (commit === undefined) continue;
      if (commit.paths.length < MAX_PATHS) commit.paths.push(quotePath(path));
      else commit.hasMorePaths = true;
    } else if (token.length > 0) {
      if (commit !== undefined) yield commit;
      const header = parseHeader(token.toString('utf8'));
      commit = header && { ...header, paths: [], hasMorePaths: false };
    }
  }
  await end;
  if (commit !== undefined) yield commit;
}

/** Undefined if git wrote something else. */
export function parseHeader(text: string): Omit<Commit, 'paths' | 'hasMorePaths'> | undefined {
  const [sha = '', tree = '', parents = '', ...values] = text.split('\n');
  if (!/^[0-9a-f]{40,64}$/.test(sha) || !/^[0-9a-f]{40,64}$/.test(tree)) return undefined;
  const trailers = Object.keys(TRAILERS).map((name, place) => [name, listValues(values[place])]);
  return {
    sha,
    tree,
    parents: comparableParents(parents.split(' ').filter((parent) => parent !== '')),
    trailers: Object.fromEntries(trailers) as Commit['trailers'],
  };
}

/** The parents as they are recorded: none twice, and no more than the grammar of an entry allows. */
export function comparableParents(parents: readonly string[]): string[] {
  return [...new Set(parents)].slice(0, MAX_PARENTS);
}

function listValues(line = ''): string[] {
  return line
    .split('\t')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
