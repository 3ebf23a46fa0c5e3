import type { Reader } from '../../db/database.ts';
import type { Hasher } from '../hashing.ts';
import type { LastLinkCache } from '../last-link-cache.ts';
import type { ThoughtFacts } from '../replay/session-replay.ts';
import type { StoredPage } from '../stored-page.ts';
import { factsOf, follows, loggedWith, readPrevious, readThoughts, thoughtsSql } from './stored-thoughts.ts';

const IN_PAGE = thoughtsSql('idx >= $1 AND idx < $2');

/** The thoughts of a page in log order; undefined unless each row says exactly what its entry says. */
export async function proveThoughts(
  reader: Reader,
  links: LastLinkCache,
  page: StoredPage,
  hasher: Hasher,
): Promise<ThoughtFacts[] | undefined> {
  const { begin, texts } = page;
  const found = await readThoughts(reader, IN_PAGE, [begin, begin + texts.length]);
  if (found === undefined || found.thoughts.length === 0) return undefined;
  const { thoughts, contents } = found;
  const seals = new Seals(reader);
  const isSeen = new Uint8Array(texts.length);
  let expected = '';
  for (const thought of thoughts) {
    const { index, taskNo, position, hash, sessionNo } = thought;
    const before = links.find(taskNo, position) ?? (await readPrevious(thought, links));
    const sealedAt = seals.find(sessionNo) ?? (await seals.read(sessionNo));
    if (index === 0 || index > sealedAt || !follows(thought, before)) return undefined;
    const digest = loggedWith(thought, texts[index - begin]);
    if (digest === undefined || isSeen[index - begin] === 1) return undefined;
    isSeen[index - begin] = 1;
    expected += digest;
    links.add(taskNo, { hash, chain_position: position });
  }
  if (hasher.compare({ label: 'extras', bytes: contents, expected }) === 'different') return undefined;
  return thoughts.map(factsOf).sort((left, right) => left.index - right.index);
}

/** The index of each session's seal, cached for one page. */
class Seals {
  readonly #reader: Reader;
  readonly #known = new Map<string, number>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  find(sessionNo: string): number | undefined {
    return this.#known.get(sessionNo);
  }

  async read(sessionNo: string): Promise<number> {
    const [session] = await this.#reader.query<{ finalized_idx: number | null }>(
      'SELECT finalized_idx FROM sessions WHERE session_no = $1',
      [Number(sessionNo)],
    );
    const sealedAt = session?.finalized_idx ?? Number.POSITIVE_INFINITY;
    this.#known.set(sessionNo, sealedAt);
    return sealedAt;
  }
}
