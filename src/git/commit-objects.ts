import { createHash } from 'node:crypto';
import { ByteReader } from './byte-reader.ts';
import { comparableParents } from './read-commits.ts';
import { type GitOptions, type RunningGit, startGit } from './run-git.ts';

/**
 * `missing`: the repository does not have the object. `other`: it is not a commit, or its bytes do not have this hash.
 */
export type FoundCommit = 'missing' | 'other' | { readonly tree: string; readonly parents: readonly string[] };

const LINE_FEED = 0x0a;
const MAX_LINE_BYTES = 512;
const MAX_HEADER_BYTES = 65_536;
const SHA1_LENGTH = 40;

/**
 * One process of git that answers which commits there are. Reads their bytes, which no graft or shallow clone changes.
 */
export class CommitObjects {
  readonly #git: RunningGit;
  readonly #answers: ByteReader;

  constructor(options: GitOptions) {
    this.#git = startGit(['cat-file', '--batch'], options);
    this.#answers = new ByteReader(this.#git.child.stdout);
  }

  /** In the order of the hashes, which must be whole ones. */
  async find(hashes: readonly string[]): Promise<FoundCommit[]> {
    this.#git.child.stdin.write(hashes.map((sha) => `${sha}\n`).join(''));
    const found: FoundCommit[] = [];
    for (const sha of hashes) found.push(await this.#answer(sha));
    return found;
  }

  async close(): Promise<void> {
    this.#git.child.stdin.end();
    await this.#git.end.catch(() => undefined);
  }

  async #answer(sha: string): Promise<FoundCommit> {
    const line = await this.#answers.until(LINE_FEED, MAX_LINE_BYTES);
    if (line === undefined) {
      await this.#git.end;
      throw new Error('git cat-file ended early');
    }
    const [, name, type, size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(line.toString('latin1')) ?? [];
    if (size === undefined) return 'missing';
    const hash = createHash(sha.length === SHA1_LENGTH ? 'sha1' : 'sha256').update(`${type} ${size}\0`);
    const header = await this.#answers.take(Number(size), MAX_HEADER_BYTES, (bytes) => hash.update(bytes));
    await this.#answers.take(1, 0);
    return type === 'commit' && name === sha && hash.digest('hex') === sha ? parseCommit(header) : 'other';
  }
}

function parseCommit(bytes: Buffer): FoundCommit {
  const [header = ''] = bytes.toString('latin1').split('\n\n', 1);
  const [, tree] = /^tree ([0-9a-f]+)$/m.exec(header) ?? [];
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent);
  return tree === undefined ? 'other' : { tree, parents: comparableParents(parents) };
}
