import type { Reader } from '../../db/database.ts';
import type { Hasher } from '../hashing.ts';
import type { LastLinkCache } from '../last-link-cache.ts';
import type { ThoughtFacts } from '../page-proof.ts';
import type { Redactions } from '../redactions/finder.ts';
import type { StoredPage } from '../stored-page.ts';
import { follows, loggedWith, readPrevious, readThoughts, ThoughtDigests, thoughtsSql } from './stored-thoughts.ts';

const IN_PAGE = thoughtsSql('idx >= $1 AND idx < $2');

interface ThoughtSource {
  readonly reader: Reader;
  readonly links: LastLinkCache;
  readonly seals: Seals;
  readonly hasher: Hasher;
  readonly redactions: Redactions;
}

/** The thoughts of a page in log order; undefined unless each row says exactly what its entry says. */
export async function proveThoughts(
  { reader, links, seals, hasher, redactions }: ThoughtSource,
  { begin, texts }: StoredPage,
): Promise<ThoughtFacts[] | undefined> {
  const found = await readThoughts(reader, IN_PAGE, [begin, begin + texts.length]);
  if (found === undefined || found.thoughts.length === 0) return undefined;
  const { thoughts, rows } = found;
  const isSeen = new Uint8Array(texts.length);
  const digests = new ThoughtDigests(rows);
  for (const thought of thoughts) {
    const { index, taskNo, position, hash, sessionNo } = thought;
    const before = links.find(taskNo, position) ?? (await readPrevious(thought, links));
    const sealedAt = seals.find(sessionNo) ?? (await seals.read(sessionNo));
    // A redacted thought that came back would match its hash.
    if (index === 0 || index > sealedAt || redactions.has(index) || !follows(thought, before)) return undefined;
    const logged = loggedWith(rows, thought, texts[index - begin]);
    if (logged === undefined || isSeen[index - begin] === 1) return undefined;
    isSeen[index - begin] = 1;
    digests.add(thought, logged);
    links.add(taskNo, { hash, chain_position: position });
  }
  if (!digests.compare(hasher)) return undefined;
  return thoughts.toSorted((left, right) => left.index - right.index);
}

const MAX_SEALS = 4096;

/** The index of each session's seal. Caches those of the most recent sessions. */
export class Seals {
  readonly #reader: Reader;
  readonly #known = new Map<number, number>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  find(sessionNo: number): number | undefined {
    return this.#known.get(sessionNo);
  }

  async read(sessionNo: number): Promise<number> {
    const [session] = await this.#reader.query<{ finalized_idx: number | null }>(
      'SELECT finalized_idx FROM sessions WHERE session_no = $1',
      [sessionNo],
    );
    const sealedAt = session?.finalized_idx ?? Number.POSITIVE_INFINITY;
    if (this.#known.size >= MAX_SEALS) this.#known.clear();
    this.#known.set(sessionNo, sealedAt);
    return sealedAt;
  }
}
