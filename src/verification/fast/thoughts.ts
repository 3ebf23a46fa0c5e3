import type { Reader } from '../../db/database.ts';
import type { ThoughtFacts } from '../replay/session-replay.ts';
import type { ClaimCheck } from './deferred-digest.ts';
import type { Links } from './last-link-cache.ts';
import type { StoredPage } from './page.ts';
import { factsOf, findBefore, follows, loggedWith, readThoughts, thoughtsSql } from './stored-thoughts.ts';

const OF_PAGE = thoughtsSql('idx >= $1 AND idx < $2');

/** The thoughts of a page; undefined when one of the rows is not exactly what its entry says. */
export async function foreseeThoughts(
  reader: Reader,
  links: Links,
  page: StoredPage,
  claims: ClaimCheck,
): Promise<ThoughtFacts[] | undefined> {
  const { begin, kinds, texts } = page;
  const found = await readThoughts(reader, OF_PAGE, [begin, begin + texts.length]);
  if (found === undefined || found.thoughts.length === 0) return undefined;
  const { thoughts, contents } = found;
  const seals = new Seals(reader);
  const isMet = new Uint8Array(texts.length);
  let claimed = '';
  for (const thought of thoughts) {
    const { index, taskNo, position, hash, sessionNo } = thought;
    const before = links.known(taskNo, position) ?? (await findBefore(thought, links));
    const sealedAt = seals.known(sessionNo) ?? (await seals.find(sessionNo));
    if (index === 0 || index > sealedAt || !follows(thought, before)) return undefined;
    const digest = kinds[index - begin] === 'thought' ? loggedWith(thought, texts[index - begin]) : undefined;
    if (digest === undefined || isMet[index - begin] === 1) return undefined;
    isMet[index - begin] = 1;
    claimed += digest;
    links.add(taskNo, { hash, chain_position: position });
  }
  if (!claims.holds({ label: 'extras', bytes: contents, claimed })) return undefined;
  return thoughts.map(factsOf);
}

/** Where the sessions of one page were sealed. */
class Seals {
  readonly #reader: Reader;
  readonly #known = new Map<string, number>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  known(sessionNo: string): number | undefined {
    return this.#known.get(sessionNo);
  }

  async find(sessionNo: string): Promise<number> {
    const [session] = await this.#reader.query<{ finalized_idx: number | null }>(
      'SELECT finalized_idx FROM sessions WHERE session_no = $1',
      [Number(sessionNo)],
    );
    const sealedAt = session?.finalized_idx ?? Number.POSITIVE_INFINITY;
    this.#known.set(sessionNo, sealedAt);
    return sealedAt;
  }
}
