import { ByteReader } from './byte-reader.ts';
import { type Commit, HEADER_FORMAT, parseHeader, TRAILER_SETTINGS, TRAILERS } from './read-commits.ts';
import { type GitOptions, startGit } from './run-git.ts';

const COMMAND = [
  ...TRAILER_SETTINGS,
  // A damaged or forged commit graph could hide commits.
  ...'-c core.commitGraph=false rev-list --all --encoding=UTF-8 --fixed-strings --regexp-ignore-case'.split(' '),
  `--grep=${TRAILERS.checkpoint}`,
  `--format=${HEADER_FORMAT}`,
];
const LINE_FEED = 0x0a;
const MAX_LINE_BYTES = 65_536;

/** Every commit that a branch, a tag or another reference leads to and that has a checkpoint trailer, newest first. */
export async function* listCheckpointTrailers(options: GitOptions): AsyncGenerator<Pick<Commit, 'sha' | 'trailers'>> {
  const { child, end } = startGit(COMMAND, { ...options, input: '' });
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
