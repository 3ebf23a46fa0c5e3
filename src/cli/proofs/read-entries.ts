import type { Reader } from '../../db/database.ts';
import { listRedactionsBetween } from '../../domains/redaction/repository.ts';
import { currentVersion, listCurrentRows } from '../../domains/tasks/versions.ts';
import { findThought } from '../../domains/trail/repository.ts';
import { findSession, sessionContent } from '../../domains/trail/sessions.ts';
import { formatSessionId, parseId } from '../../ids.ts';
import {
  type BundledEntry,
  type Disclosed,
  type Entry,
  type EntryKind,
  ERASED_SALT,
  parseEntry,
} from '../../integrity/index.ts';
import { type EntryRow, listEntries } from '../query/log-entries.ts';

/** Whether an entry is among those that are read. */
type IsChosen = (index: number) => boolean;

type Range = readonly [begin: number, end: number];

const PAGE = 500;

interface Selected {
  /** Indexes in ascending order; undefined selects every entry before `size`. */
  readonly indexes: readonly number[] | undefined;
  readonly size: number;
  readonly redact: boolean;
}

/** Yields entries with what they have digests of, in pages. */
export async function* readEntries(db: Reader, { indexes, size, redact }: Selected): AsyncGenerator<BundledEntry[]> {
  const count = indexes?.length ?? size;
  const chosen = indexes && new Set(indexes);
  const isChosen: IsChosen = (index) => index < size && (chosen?.has(index) ?? true);
  for (let first = 0; first < count; first += PAGE) {
    const wanted = indexes?.slice(first, first + PAGE);
    const begin = wanted?.[0] ?? first;
    const end = wanted === undefined ? Math.min(first + PAGE, size) : (wanted.at(-1) ?? begin) + 1;
    yield* readSpan(db, [begin, end], wanted && new Set(wanted), redact ? undefined : isChosen);
  }
}

/** A span with few wanted entries is read in parts, so that no statement returns what was not asked for. */
async function* readSpan(
  db: Reader,
  [begin, end]: Range,
  wanted: ReadonlySet<number> | undefined,
  isChosen: IsChosen | undefined,
): AsyncGenerator<BundledEntry[]> {
  const parts: Range[] = wanted === undefined ? [[begin, end]] : runsOf([...wanted]);
  for (const part of parts) {
    const rows = await listEntries(db, ...part);
    const contents = isChosen === undefined ? new Map<number, Disclosed>() : await readContents(db, part, rows);
    if (isChosen !== undefined) await removeRedacted(db, part, contents, isChosen);
    yield rows.map(({ idx: index, entry }) => {
      const disclosed = contents.get(index);
      return { index, entry, ...(disclosed !== undefined && { disclosed }) };
    });
  }
}

function runsOf(indexes: readonly number[]): Range[] {
  const runs: [number, number][] = [];
  for (const index of indexes) {
    const last = runs.at(-1);
    if (last?.[1] === index) last[1] = index + 1;
    else runs.push([index, index + 1]);
  }
  return runs;
}

interface ContentRow {
  readonly idx: number;
  readonly salt: string;
  readonly content: string;
}

const BY_ENTRY = ['ledger_entries', 'task_versions', 'project_options', 'observations', 'redactions'];

/**
 * What the entries of a range have digests of. Tasks, sessions and thoughts are found by the numbers in the entries.
 */
async function readContents(db: Reader, range: Range, rows: readonly EntryRow[]): Promise<Map<number, Disclosed>> {
  const contents = new Map<number, Disclosed>();
  for (const table of BY_ENTRY) {
    const sql = `SELECT idx, salt, content FROM ${table} WHERE idx >= $1 AND idx < $2 AND content IS NOT NULL`;
    for (const { idx, salt, content } of await db.query<ContentRow>(sql, [...range]))
      contents.set(idx, { salt, text: content });
  }
  const entries = rows.map(({ entry }) => parseEntry(entry)).filter((entry) => entry !== undefined);
  const tasks = numbersOf(entries, 'task_id', ['task.created', 'task.updated']);
  for (const { idx, salt, content } of (await listCurrentRows(db, tasks)).map(currentVersion))
    if (content !== null) contents.set(idx, { salt, text: content });
  for (const number of numbersOf(entries, 'session_id', ['session.started'])) {
    const session = await findSession(db, formatSessionId(number));
    if (session !== undefined) contents.set(session.start_idx, { salt: session.salt, text: sessionContent(session) });
  }
  for (const number of numbersOf(entries, 'thought_id', ['thought'])) {
    const row = await findThought(db, number);
    if (row === undefined) continue;
    const { idx, salt, content, type, extras, previous_hash } = row;
    contents.set(idx, { salt, text: extras, thought: { type, content, previous_hash } });
  }
  return contents;
}

/**
 * Removes the placeholders of redacted content. What remains of a task can be checked only with the entry that
 * redacted it, so it stays if the bundle includes that entry.
 */
async function removeRedacted(
  db: Reader,
  range: Range,
  contents: Map<number, Disclosed>,
  isChosen: IsChosen,
): Promise<void> {
  for (const { idx, redacts } of await listRedactionsBetween(db, ...range))
    if (contents.get(redacts)?.salt === ERASED_SALT || !isChosen(idx)) contents.delete(redacts);
}

/** The numbers in an id of the entries of some kinds, each once. */
function numbersOf(entries: readonly Entry[], field: string, kinds: readonly EntryKind[]): number[] {
  const ids = entries.filter(({ kind }) => kinds.includes(kind)).map((entry) => entry[field] as string);
  return [...new Set(ids.map(parseId))];
}
