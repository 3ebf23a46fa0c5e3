import type { Reader, SqlValue } from '../../db/database.ts';
import { formatSessionId, formatTaskId, formatThoughtId } from '../../ids.ts';
import {
  chainedText,
  type Digest,
  findExtras,
  isTime,
  sha256,
  THOUGHT_TYPES,
  thoughtDefect,
} from '../../integrity/index.ts';
import type { LastLinkCache, Link } from '../last-link-cache.ts';
import { type Latin1Text, toLatin1 } from '../latin1-text.ts';
import type { ThoughtFacts } from '../replay/session-replay.ts';
import {
  countOf,
  type PackedRows,
  packedRowsSql,
  readPackedRows,
  type SqlByEngine,
  unescapeText,
} from './packed-rows.ts';

/** A row of thoughts, each column as the text that its entry must contain. */
export interface StoredThought {
  /** Its position among the rows read with it. */
  readonly place: number;
  readonly thoughtNo: Latin1Text;
  readonly index: number;
  readonly taskNo: number;
  readonly position: number;
  readonly attempt: Latin1Text;
  readonly sessionNo: Latin1Text;
  readonly sessionSeq: Latin1Text;
  readonly type: Latin1Text;
  readonly content: Latin1Text;
  readonly at: Latin1Text;
  readonly actor: Latin1Text;
  readonly previous: Latin1Text;
  readonly hash: Latin1Text;
  readonly isAscii: boolean;
  readonly isPlain: boolean;
}

const NUMBERS = ['thought_no', 'idx', 'task_no', 'chain_position', 'attempt', 'session_no', 'session_seq'];
/** NULL becomes the empty text; a stored empty text becomes NULL, which the type check rejects. */
const PREVIOUS = "CASE WHEN previous_hash IS NULL THEN '' WHEN previous_hash <> '' THEN previous_hash END";
const STRINGS = ['type', 'content', 'recorded_at', 'recorded_by', PREVIOUS, 'hash'];
const WIDTH = NUMBERS.length + STRINGS.length;

export function thoughtsSql(condition: string): SqlByEngine {
  return packedRowsSql({
    numbers: NUMBERS,
    strings: STRINGS,
    content: 'extras',
    from: `thoughts WHERE ${condition}`,
  });
}

interface StoredThoughts {
  /** In any order. */
  readonly thoughts: readonly StoredThought[];
  /** Their extras, in the same order. */
  readonly contents: Uint8Array;
}

/** Returns undefined if one of the rows contains something that no server stores. */
export async function readThoughts(
  reader: Reader,
  query: SqlByEngine,
  parameters: readonly SqlValue[],
): Promise<StoredThoughts | undefined> {
  const found = await readPackedRows(reader, query, WIDTH, parameters);
  if (found === undefined) return undefined;
  const thoughts: StoredThought[] = [];
  for (let place = 0; place < found.total; place += 1) thoughts.push(thoughtAt(found, place));
  return thoughts.every(isCounted) ? { thoughts, contents: found.contents } : undefined;
}

function thoughtAt({ fields, isAscii, isPlain }: PackedRows, place: number): StoredThought {
  const first = place * WIDTH;
  return {
    place,
    thoughtNo: fields[first] as Latin1Text,
    index: countOf(fields[first + 1] as Latin1Text),
    taskNo: countOf(fields[first + 2] as Latin1Text),
    position: countOf(fields[first + 3] as Latin1Text),
    attempt: fields[first + 4] as Latin1Text,
    sessionNo: fields[first + 5] as Latin1Text,
    sessionSeq: fields[first + 6] as Latin1Text,
    type: fields[first + 7] as Latin1Text,
    content: fields[first + 8] as Latin1Text,
    at: fields[first + 9] as Latin1Text,
    actor: fields[first + 10] as Latin1Text,
    previous: fields[first + 11] as Latin1Text,
    hash: fields[first + 12] as Latin1Text,
    isAscii,
    isPlain,
  };
}

/** All of these numbers start at 1. */
function isCounted({ index, taskNo, position, thoughtNo, attempt, sessionNo, sessionSeq }: StoredThought): boolean {
  return (
    index >= 1 &&
    taskNo >= 1 &&
    position >= 1 &&
    countOf(thoughtNo) >= 1 &&
    countOf(attempt) >= 1 &&
    countOf(sessionNo) >= 1 &&
    countOf(sessionSeq) >= 1
  );
}

export function factsOf({
  index,
  taskNo,
  position,
  thoughtNo,
  attempt,
  sessionNo,
  sessionSeq,
}: StoredThought): ThoughtFacts {
  return {
    index,
    taskNo,
    position,
    thoughtNo: countOf(thoughtNo),
    attempt: countOf(attempt),
    sessionNo: countOf(sessionNo),
    sessionSeq: countOf(sessionSeq),
  };
}

/** The previous link from the database, where its hash may have been forged into another type. */
export async function readPrevious(
  { taskNo, position }: StoredThought,
  links: LastLinkCache,
): Promise<Link | undefined> {
  const before = await links.read(taskNo, position);
  const hash: unknown = before?.hash;
  return before && { ...before, hash: typeof hash === 'string' ? toLatin1(hash) : 'not text' };
}

/** True if it is the next link in the chain of its task. */
export function follows({ position, previous }: StoredThought, before: Link | undefined): boolean {
  return previous === (before?.hash ?? '') && position === (before?.chain_position ?? 0) + 1;
}

/** The digest of the extras in the entry; undefined unless the entry says exactly what the row says. */
export function loggedWith(thought: StoredThought, text: Latin1Text | undefined): Digest | undefined {
  const { type, content, at, actor, previous, hash, isAscii } = thought;
  if (!isTime(at) || !isOfGrammar(thought)) return undefined;
  const task_id = formatTaskId(thought.taskNo);
  const previous_hash = previous === '' ? null : previous;
  const chained = chainedText({ task_id, type, content, previous_hash, recorded_at: at, recorded_by: actor });
  if (sha256(isAscii ? chained : Buffer.from(chained, 'latin1')) !== hash) return undefined;
  return findExtras(text ?? '', {
    actor,
    at,
    attempt: thought.attempt,
    chain_position: String(thought.position),
    hash,
    session_id: formatSessionId(thought.sessionNo),
    session_seq: thought.sessionSeq,
    task_id,
    thought_id: LETTER + formatThoughtId(thought.thoughtNo).slice(1),
  });
}

const SHORT = 1000;

/** A short plain text cannot break the grammar unless it is blank. */
function isOfGrammar({ type, content, isPlain }: StoredThought): boolean {
  if (isPlain && content.length <= SHORT && content.trim() !== '') return TYPES.has(type);
  return thoughtDefect({ type, content: unescapeText(content) }) === undefined;
}

const TYPES: ReadonlySet<string> = new Set(THOUGHT_TYPES);

/** The only letter of an id that takes two bytes in UTF-8. */
const LETTER = toLatin1(formatThoughtId(1).slice(0, 1));
