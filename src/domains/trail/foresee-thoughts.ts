import type { Reader } from '../../db/database.ts';
import { formatSessionId, formatTaskId, formatThoughtId } from '../../ids.ts';
import { chainedText, sha256, storedDigest, thoughtText } from '../../integrity/index.ts';
import { type ByteText, toByteText } from '../../ledger/byte-text.ts';
import { countOf, type Fields, fieldsSql, isCount, readFields } from '../../ledger/read-fields.ts';
import type { StoredPage } from '../../ledger/read-page.ts';
import type { Link, Links } from './links.ts';

const NUMBERS = [
  'thought_no',
  'thoughts.idx',
  'task_no',
  'chain_position',
  'attempt',
  'thoughts.session_no',
  'thoughts.session_seq',
];
/** A first link has no hash before it; it stands as an empty text, and an empty text is none of these columns. */
const PREVIOUS = "CASE WHEN previous_hash IS NULL THEN '' WHEN previous_hash <> '' THEN previous_hash END";
const STRINGS = ['type', 'content', 'recorded_at', 'recorded_by', PREVIOUS, 'hash', 'salt'];
const WIDTH = NUMBERS.length + STRINGS.length;
const THOUGHTS = fieldsSql({
  numbers: NUMBERS,
  strings: STRINGS,
  raw: 'extras',
  // One that its session does not list is not found, and so not foreseen.
  from: `thoughts JOIN session_records
      ON session_records.session_no = thoughts.session_no AND session_records.session_seq = thoughts.session_seq
     AND session_records.idx = thoughts.idx
    WHERE thoughts.idx >= $1 AND thoughts.idx < $2`,
});

/** A row as `readFields` gives it. */
interface StoredThought {
  readonly thoughtNo: string;
  readonly index: string;
  readonly taskNo: string;
  readonly position: string;
  readonly attempt: string;
  readonly sessionNo: string;
  readonly sessionSeq: string;
  readonly type: string;
  readonly content: string;
  readonly at: string;
  readonly actor: string;
  readonly previous: string;
  readonly hash: string;
  readonly salt: string;
  readonly extras: string;
}

/** The indexes of the thoughts of a page; undefined when one of the rows is not exactly what its entry says. */
export async function foreseeThoughts(reader: Reader, links: Links, page: StoredPage): Promise<number[] | undefined> {
  const found = await readFields(reader, THOUGHTS, WIDTH, [page.begin, page.begin + page.texts.length]);
  if (found === undefined || found.raws.length === 0) return undefined;
  const seals = new Seals(reader);
  const indexes: number[] = [];
  for (let place = 0; place < found.raws.length; place += 1) {
    const thought = thoughtAt(found, place);
    const taskNo = countOf(thought.taskNo);
    const position = countOf(thought.position);
    const index = countOf(thought.index);
    if (!areCounts(thought) || !(index + taskNo + position >= 0)) return undefined;
    const before = links.known(taskNo, position) ?? (await links.before(taskNo, position));
    const sealedAt = seals.known(thought.sessionNo) ?? (await seals.find(thought.sessionNo));
    if (index > sealedAt || !follows(thought, position, before) || !isLogged(page, index, thought, found.isAscii))
      return undefined;
    links.add(taskNo, { hash: thought.hash, chain_position: position });
    indexes.push(index);
  }
  return indexes;
}

function thoughtAt({ fields, raws }: Fields, place: number): StoredThought {
  const first = place * WIDTH;
  return {
    thoughtNo: fields[first] as string,
    index: fields[first + 1] as string,
    taskNo: fields[first + 2] as string,
    position: fields[first + 3] as string,
    attempt: fields[first + 4] as string,
    sessionNo: fields[first + 5] as string,
    sessionSeq: fields[first + 6] as string,
    type: fields[first + 7] as string,
    content: fields[first + 8] as string,
    at: fields[first + 9] as string,
    actor: fields[first + 10] as string,
    previous: fields[first + 11] as string,
    hash: fields[first + 12] as string,
    salt: fields[first + 13] as string,
    extras: raws[place] as string,
  };
}

/** The numbers that stand in the entry. That of the thought is the key of its table, which is never anything else. */
function areCounts({ attempt, sessionNo, sessionSeq }: StoredThought): boolean {
  return isCount(attempt) && isCount(sessionNo) && isCount(sessionSeq);
}

function follows({ previous }: StoredThought, position: number, before: Link | undefined): boolean {
  return previous === (before?.hash ?? '') && position === (before?.chain_position ?? 0) + 1;
}

function isLogged(
  { begin, kinds, texts }: StoredPage,
  index: number,
  thought: StoredThought,
  isAscii: boolean,
): boolean {
  const { type, content, at, actor, previous, hash, salt } = thought;
  const task_id = formatTaskId(thought.taskNo);
  const chained = chainedText({
    task_id,
    type,
    content,
    previous_hash: previous === '' ? null : previous,
    recorded_at: at,
    recorded_by: actor,
  });
  const extras = storedDigest('extras', salt, thought.extras);
  if (extras === undefined || hashOf(chained, isAscii) !== hash) return false;
  const expected = thoughtText({
    actor,
    at,
    attempt: thought.attempt,
    chain_position: thought.position,
    extras,
    hash,
    session_id: formatSessionId(thought.sessionNo),
    session_seq: thought.sessionSeq,
    task_id,
    thought_id: THOUGHT + formatThoughtId(thought.thoughtNo).slice(1),
  });
  return kinds[index - begin] === 'thought' && texts[index - begin] === expected;
}

const THOUGHT = toByteText('\u0398');

function hashOf(text: ByteText, isAscii: boolean): string {
  return sha256(isAscii ? text : Buffer.from(text, 'latin1'));
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
