import { ByteReader } from './byte-reader.ts';
import { type Commit, HEADER_FORMAT, parseHeader, TRAILER_SETTINGS, TRAILERS } from './read-commits.ts';
import { type GitOptions, runGit, startGit } from './run-git.ts';

const COMMAND = [
  ...TRAILER_SETTINGS,
  // A damaged or forged commit graph could hide commits.
  ...'-c core.commitGraph=false rev-list --stdin --encoding=UTF-8 --fixed-strings --regexp-ignore-case'.split(' '),
  `--grep=${TRAILERS.checkpoint}`,
  `--format=${HEADER_FORMAT}`,
];
const LINE_FEED = 0x0a;
const MAX_LINE_BYTES = 65_536;

/** The commits that branches, tags and other references lead to now. */
export async function listTips(options: GitOptions): Promise<string[]> {
  const output = await runGit(['rev-list', '--all', '--no-walk'], options);
  return output.split('\n').filter((sha) => sha !== '');
}

/** Every commit that leads to one of these tips, or is one, and has a checkpoint trailer, newest first. */
export async function* listCheckpointTrailers(
  tips: readonly string[],
  options: GitOptions,
): AsyncGenerator<Pick<Commit, 'sha' | 'trailers'>> {
  // Without a commit to start from, rev-list prints its usage and fails.
  if (tips.length === 0) return;
  const { child, end } = startGit(COMMAND, { ...options, input: tips.map((sha) => `${sha}\n`).join('') });
  const lines = new ByteReader(child.stdout);
  const count = HEADER_FORMAT.split('%n').length;
  for (;;) {
    // "commit …" comes before each header.
    const begin = await lines.until(LINE_FEED, MAX_LINE_BYTES);
    if (begin === undefined) break;
    const header: string[] = [];
    while (header.length < count) header.push(((await lines.until(LINE_FEED, MAX_LINE_BYTES)) ?? '').toString());
    const commit = parseHeader(header.join('\n'));
    if (commit !== undefined && commit.trailers.checkpoint.length > 0) yield commit;
  }
  await end;
}
