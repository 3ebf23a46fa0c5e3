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
import type { ThoughtFacts } from '../replay/session-replay.ts';
import type { Link, Links } from './last-link-cache.ts';
import { type ByteText, toByteText } from './latin1-text.ts';
import { countOf, type Fields, fieldsSql, type OnEngine, readFields, unescapeText } from './packed-rows.ts';

/** A row of thoughts, by the texts that stand for its columns in the entry. */
export interface StoredThought {
  /** Among those that were read with it. */
  readonly place: number;
  readonly thoughtNo: ByteText;
  readonly index: number;
  readonly taskNo: number;
  readonly position: number;
  readonly attempt: ByteText;
  readonly sessionNo: ByteText;
  readonly sessionSeq: ByteText;
  readonly type: ByteText;
  readonly content: ByteText;
  readonly at: ByteText;
  readonly actor: ByteText;
  readonly previous: ByteText;
  readonly hash: ByteText;
  readonly isAscii: boolean;
  readonly isPlain: boolean;
}

const NUMBERS = ['thought_no', 'idx', 'task_no', 'chain_position', 'attempt', 'session_no', 'session_seq'];
/** A first link has no hash before it; it stands as an empty text, and an empty text is none of these columns. */
const PREVIOUS = "CASE WHEN previous_hash IS NULL THEN '' WHEN previous_hash <> '' THEN previous_hash END";
const STRINGS = ['type', 'content', 'recorded_at', 'recorded_by', PREVIOUS, 'hash'];
const WIDTH = NUMBERS.length + STRINGS.length;

export function thoughtsSql(condition: string): OnEngine {
  return fieldsSql({
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

/** Undefined when one of the rows holds something that no honest writer stores. */
export async function readThoughts(
  reader: Reader,
  query: OnEngine,
  parameters: readonly SqlValue[],
): Promise<StoredThoughts | undefined> {
  const found = await readFields(reader, query, WIDTH, parameters);
  if (found === undefined) return undefined;
  const thoughts: StoredThought[] = [];
  for (let place = 0; place < found.total; place += 1) thoughts.push(thoughtAt(found, place));
  return thoughts.every(isCounted) ? { thoughts, contents: found.contents } : undefined;
}

function thoughtAt({ fields, isAscii, isPlain }: Fields, place: number): StoredThought {
  const first = place * WIDTH;
  return {
    place,
    thoughtNo: fields[first] as ByteText,
    index: countOf(fields[first + 1] as ByteText),
    taskNo: countOf(fields[first + 2] as ByteText),
    position: countOf(fields[first + 3] as ByteText),
    attempt: fields[first + 4] as ByteText,
    sessionNo: fields[first + 5] as ByteText,
    sessionSeq: fields[first + 6] as ByteText,
    type: fields[first + 7] as ByteText,
    content: fields[first + 8] as ByteText,
    at: fields[first + 9] as ByteText,
    actor: fields[first + 10] as ByteText,
    previous: fields[first + 11] as ByteText,
    hash: fields[first + 12] as ByteText,
    isAscii,
    isPlain,
  };
}

/** All of these numbers count from one. */
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

/** The link before it, from the store, where anybody may have written anything. */
export async function findBefore({ taskNo, position }: StoredThought, links: Links): Promise<Link | undefined> {
  const before = await links.before(taskNo, position);
  const hash: unknown = before?.hash;
  return before && { ...before, hash: typeof hash === 'string' ? toByteText(hash) : 'no text' };
}

/** Whether it is the next in the chain of its task. */
export function follows({ position, previous }: StoredThought, before: Link | undefined): boolean {
  return previous === (before?.hash ?? '') && position === (before?.chain_position ?? 0) + 1;
}

/** The digest of its extras by its entry; undefined unless that says exactly what the row says. */
export function loggedWith(thought: StoredThought, text: ByteText | undefined): Digest | undefined {
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

/** A short plain text needs no second look. */
function isOfGrammar({ type, content, isPlain }: StoredThought): boolean {
  if (isPlain && content.length <= SHORT && content.trim() !== '') return TYPES.has(type);
  return thoughtDefect({ type, content: unescapeText(content) }) === undefined;
}

const TYPES: ReadonlySet<string> = new Set(THOUGHT_TYPES);

/** The one letter of an id that takes two bytes. */
const LETTER = toByteText(formatThoughtId(1).slice(0, 1));
