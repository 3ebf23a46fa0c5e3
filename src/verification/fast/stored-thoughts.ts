import type { Reader, SqlValue } from '../../db/database.ts';
import { formatSessionId, formatTaskId, formatThoughtId, idDigits } from '../../ids.ts';
import { chainedText, type Digest, findExtras, isTime, THOUGHT_TYPES, thoughtDefect } from '../../integrity/index.ts';
import type { Hasher } from '../hashing.ts';
import type { LastLinkCache, Link } from '../last-link-cache.ts';
import { type Latin1Text, toLatin1 } from '../latin1-text.ts';
import type { ThoughtFacts } from '../page-proof.ts';
import { CONTENT_SEPARATOR } from './deferred-digest.ts';
import {
  countOf,
  type PackedRows,
  packedRowsSql,
  readPackedRows,
  type SqlByEngine,
  unescapeText,
} from './packed-rows.ts';

/** A row of thoughts. Its strings are as JSON escapes them. */
export interface StoredThought extends ThoughtFacts {
  /** Its position among the rows read with it. */
  readonly place: number;
  readonly previous: Latin1Text;
  readonly hash: Latin1Text;
}

const NUMBERS = ['thought_no', 'idx', 'task_no', 'chain_position', 'attempt', 'session_no', 'session_seq'];
const STRINGS = ['type', 'content', 'recorded_at', 'recorded_by', 'hash'];
const OPTIONAL = 'previous_hash';
const WIDTH = NUMBERS.length + STRINGS.length + 1;

export function thoughtsSql(condition: string): SqlByEngine {
  return packedRowsSql({
    numbers: NUMBERS,
    strings: STRINGS,
    optional: OPTIONAL,
    content: 'extras',
    from: `thoughts WHERE ${condition}`,
  });
}

interface StoredThoughts {
  /** In any order. */
  readonly thoughts: readonly StoredThought[];
  /** The rest of their columns. */
  readonly rows: PackedRows;
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
  return thoughts.every(isCounted) ? { thoughts, rows: found } : undefined;
}

function thoughtAt({ fields }: PackedRows, place: number): StoredThought {
  const first = place * WIDTH;
  return {
    place,
    thoughtNo: countOf(fields[first] as Latin1Text),
    index: countOf(fields[first + 1] as Latin1Text),
    taskNo: countOf(fields[first + 2] as Latin1Text),
    position: countOf(fields[first + 3] as Latin1Text),
    attempt: countOf(fields[first + 4] as Latin1Text),
    sessionNo: countOf(fields[first + 5] as Latin1Text),
    sessionSeq: countOf(fields[first + 6] as Latin1Text),
    hash: fields[first + 11] as Latin1Text,
    previous: fields[first + 12] as Latin1Text,
  };
}

/** All of these numbers start at 1. */
function isCounted({ index, taskNo, position, thoughtNo, attempt, sessionNo, sessionSeq }: ThoughtFacts): boolean {
  return (
    index >= 1 && taskNo >= 1 && position >= 1 && thoughtNo >= 1 && attempt >= 1 && sessionNo >= 1 && sessionSeq >= 1
  );
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

/** What is left to hash of a thought whose entry says exactly what its row says. */
export interface LoggedThought {
  /** The digest of the extras in the entry. */
  readonly extras: Digest;
  /** The text that the hash of the row must cover. */
  readonly link: Latin1Text;
}

/** Returns undefined if the entry differs from the row. */
export function loggedWith(
  { fields, isPlain }: PackedRows,
  { place, hash, previous }: StoredThought,
  text: Latin1Text | undefined,
): LoggedThought | undefined {
  const first = place * WIDTH;
  const type = fields[first + 7] as Latin1Text;
  const content = fields[first + 8] as Latin1Text;
  const at = fields[first + 9] as Latin1Text;
  const actor = fields[first + 10] as Latin1Text;
  if (!isTime(at) || !isOfGrammar(type, content, isPlain)) return undefined;
  const task_id = formatTaskId(fields[first + 2] as Latin1Text);
  const previous_hash = previous === '' ? null : previous;
  const extras = findExtras(text ?? '', {
    actor,
    at,
    attempt: fields[first + 4] as Latin1Text,
    chain_position: fields[first + 3] as Latin1Text,
    hash,
    session_id: formatSessionId(fields[first + 5] as Latin1Text),
    session_seq: fields[first + 6] as Latin1Text,
    task_id,
    thought_id: LETTER + idDigits(fields[first] as Latin1Text),
  });
  if (extras === undefined) return undefined;
  return { extras, link: chainedText({ task_id, type, content, previous_hash, recorded_at: at, recorded_by: actor }) };
}

/** Collects what is left to hash of thoughts, each at its place among the rows. */
export class ThoughtDigests {
  readonly #rows: PackedRows;
  readonly #extras: Digest[];
  readonly #links: Latin1Text[] = [];
  readonly #hashes: Digest[] = [];

  constructor(rows: PackedRows) {
    this.#rows = rows;
    this.#extras = Array.from({ length: rows.total }, () => '');
  }

  add({ place, hash }: StoredThought, { extras, link }: LoggedThought): void {
    this.#extras[place] = extras;
    this.#links.push(link);
    this.#hashes.push(hash);
  }

  /** False if one of them is known to differ. */
  compare(hasher: Hasher): boolean {
    const { contents, isAscii: areAscii } = this.#rows;
    const links = { links: this.#links, areAscii, expected: this.#hashes };
    const extras = { label: 'extras', bytes: contents, expected: this.#extras.join(CONTENT_SEPARATOR) } as const;
    return hasher.compare(links) !== 'different' && hasher.compare(extras) !== 'different';
  }
}

const SHORT = 1000;

/** A short plain text cannot break the grammar unless it is blank. */
function isOfGrammar(type: Latin1Text, content: Latin1Text, isPlain: boolean): boolean {
  if (isPlain && content.length <= SHORT && content.trim() !== '') return TYPES.has(type);
  return thoughtDefect({ type, content: unescapeText(content) }) === undefined;
}

const TYPES: ReadonlySet<string> = new Set(THOUGHT_TYPES);

/** The only letter of an id that takes two bytes in UTF-8. As one character it would double the width of a text. */
const LETTER = toLatin1(formatThoughtId('').slice(0, -idDigits('').length));
