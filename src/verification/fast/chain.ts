import type { Reader, SqlValue } from '../../db/database.ts';
import type { Hasher } from '../hashing.ts';
import type { LastLinkCache } from '../last-link-cache.ts';
import type { LeafCheck } from '../leaf-check.ts';
import type { RedactionFinder } from '../redactions/finder.ts';
import { readProvenTexts } from './leaf-texts.ts';
import type { SqlByEngine } from './packed-rows.ts';
import type { RecordCounts } from './record-counter.ts';
import {
  follows,
  loggedWith,
  readPrevious,
  readThoughts,
  type StoredThought,
  ThoughtDigests,
  thoughtsSql,
} from './stored-thoughts.ts';

/** Part of one chain: its task, the position before the first and the last position. */
const IN_CHAIN = thoughtsSql('task_no = $1 AND chain_position > $2 AND chain_position <= $3');

/** Part of one session: its number, the first and the last position. */
const IN_SESSION = thoughtsSql('session_no = $1 AND session_seq >= $2 AND session_seq <= $3');

export interface ChainSource {
  readonly db: Reader;
  readonly leaves: LeafCheck;
  readonly links: LastLinkCache;
  readonly hasher: Hasher;
  readonly redactions: RedactionFinder;
  /** What the log says, if it is known without reading all of it. */
  readonly log: RecordCounts | undefined;
}

/** In chain order; undefined unless each thought says exactly what the log says and follows the one before it. */
export async function proveChain(source: ChainSource, taskNo: number, after: number, last: number) {
  const thoughts = await prove(source, IN_CHAIN, [taskNo, after, last], ({ position }) => position);
  return thoughts?.length === last - after ? thoughts : undefined;
}

/** In session order. */
export function proveSession(source: ChainSource, sessionNo: number, first: number, last: number) {
  return prove(source, IN_SESSION, [sessionNo, first, last], ({ sessionSeq }) => sessionSeq);
}

async function prove(
  { db, leaves, links, hasher, redactions }: ChainSource,
  query: SqlByEngine,
  parameters: readonly SqlValue[],
  positionOf: (thought: StoredThought) => number,
): Promise<StoredThought[] | undefined> {
  const found = await readThoughts(db, query, parameters);
  if (found === undefined) return undefined;
  const thoughts = [...found.thoughts].sort((left, right) => positionOf(left) - positionOf(right));
  const digests = new ThoughtDigests(found.rows);
  const indexes = thoughts.map(({ index }) => index);
  if (await redactions.hasAnyOf(indexes)) return undefined;
  const texts = await readProvenTexts(db, leaves, hasher, indexes);
  if (texts === undefined) return undefined;
  for (const thought of thoughts) {
    const { index, taskNo, position, hash } = thought;
    const before = links.find(taskNo, position) ?? (await readPrevious(thought, links));
    const logged = follows(thought, before) ? loggedWith(found.rows, thought, texts.get(index)) : undefined;
    if (logged === undefined) return undefined;
    digests.add(thought, logged);
    links.add(taskNo, { hash, chain_position: position });
  }
  return digests.compare(hasher) ? thoughts : undefined;
}
