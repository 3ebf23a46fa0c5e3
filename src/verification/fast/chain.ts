import type { Reader, SqlValue } from '../../db/database.ts';
import type { Digest } from '../../integrity/index.ts';
import type { LeafCheck } from '../leaf-check.ts';
import type { Hasher } from './hash-worker-client.ts';
import type { Links } from './last-link-cache.ts';
import type { OnEngine } from './packed-rows.ts';
import { findBefore, follows, loggedWith, readThoughts, type StoredThought, thoughtsSql } from './stored-thoughts.ts';

/** A stretch of one chain: its task, the position before it, and its last position. */
const OF_CHAIN = thoughtsSql('task_no = $1 AND chain_position > $2 AND chain_position <= $3');

/** A stretch of one session: its number, the first and the last place. */
const OF_SESSION = thoughtsSql('session_no = $1 AND session_seq >= $2 AND session_seq <= $3');

/** Where the thoughts that are asked for come from, and what is known about the chains that they are in. */
export interface Trail {
  readonly db: Reader;
  readonly leaves: LeafCheck;
  readonly links: Links;
  readonly hasher: Hasher;
}

/** In the order of the chain; undefined when one of them is not exactly what the log says, or does not follow. */
export async function foreseeChain(trail: Trail, taskNo: number, after: number, last: number) {
  const thoughts = await foresee(trail, OF_CHAIN, [taskNo, after, last], ({ position }) => position);
  return thoughts?.length === last - after ? thoughts : undefined;
}

/** In the order of the session. */
export function foreseeSession(trail: Trail, sessionNo: number, first: number, last: number) {
  return foresee(trail, OF_SESSION, [sessionNo, first, last], ({ sessionSeq }) => Number(sessionSeq));
}

async function foresee(
  { db, leaves, links, hasher }: Trail,
  query: OnEngine,
  parameters: readonly SqlValue[],
  placeOf: (thought: StoredThought) => number,
): Promise<StoredThought[] | undefined> {
  const found = await readThoughts(db, query, parameters);
  if (found === undefined) return undefined;
  const thoughts = [...found.thoughts].sort((left, right) => placeOf(left) - placeOf(right));
  const claimed: Digest[] = thoughts.map(() => '');
  const texts = await leaves.readAll(thoughts.map(({ index }) => index));
  if (texts === undefined) return undefined;
  for (const thought of thoughts) {
    const { index, taskNo, position, hash } = thought;
    const before = links.known(taskNo, position) ?? (await findBefore(thought, links));
    const digest = follows(thought, before) ? loggedWith(thought, texts.get(index)) : undefined;
    if (digest === undefined) return undefined;
    claimed[thought.place] = digest;
    links.add(taskNo, { hash, chain_position: position });
  }
  const isTrue = hasher.holds({ label: 'extras', bytes: found.contents, claimed: claimed.join('') });
  return isTrue ? thoughts : undefined;
}
