import { readdirSync } from 'node:fs';
import type { Reader } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { ALIASES } from '../../domains/tasks/input-aliases.ts';
import { taskFields } from '../../domains/tasks/record.ts';
import { type Disclosed, parseJson } from '../../integrity/index.ts';
import { readSpoolFile } from '../../recorder/spool.ts';

/** Shorter texts are in many records that have nothing to do with each other. */
const MIN_LENGTH = 8;
/** Longer contents are stored cut, so a copy may have only the beginning of a text. */
const SEARCHED_LENGTH = 500;
const MAX_TEXTS = 20;
export const MAX_COPIES = 100;

const TEXTS_OF_TASK: ReadonlySet<string> = new Set(taskFields.freeText.map(({ name }) => name));

/** Fields whose values are words of Colibri, names or ids, and in many records. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...Object.keys(taskFields.grammar).filter((name) => !TEXTS_OF_TASK.has(name)),
  ...Object.keys(ALIASES).filter((alias) => !TEXTS_OF_TASK.has(ALIASES[alias] ?? '')),
  'auditor_id',
  'scope',
  'session_id',
  'type',
]);

/** What to look for: one piece of each text that is about to be removed, as every table stores it. */
export function piecesOf(contents: readonly Disclosed[]): string[] {
  const texts = contents.flatMap(({ text, thought }) => [...(thought ? [thought.content] : []), ...textsIn(text)]);
  const pieces = texts.map(pieceOf).filter((piece) => piece.length >= MIN_LENGTH);
  return [...new Set(pieces)].slice(0, MAX_TEXTS);
}

/** The free texts of a content in JSON. */
export function textsIn(json: string): string[] {
  const found: string[] = [];
  const visit = (value: unknown) => {
    if (typeof value === 'string') found.push(value);
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) if (!STRUCTURE.has(name)) visit(member);
  };
  visit(parseJson(json));
  return found;
}

/** JSON inside JSON is escaped twice: only a piece without such characters is the same everywhere. */
function pieceOf(text: string): string {
  const pieces = text
    .slice(0, SEARCHED_LENGTH)
    .toWellFormed()
    .split(/["\\\uFFFD\p{Cc}]/u);
  return pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '').trim();
}

const COLUMNS: Readonly<Record<string, readonly [index: string, columns: readonly string[]]>> = {
  ledger_entries: ['idx', ['content']],
  task_versions: ['idx', ['content']],
  tasks: ['event_idx', taskFields.freeText.map(({ column }) => column)],
  sessions: ['start_idx', ['reason']],
  thoughts: ['idx', ['content', 'extras']],
  project_options: ['idx', ['content']],
  observations: ['idx', ['content']],
  redactions: ['idx', ['content']],
};

/** Entries whose content has one of these pieces, in log order; at most 100. */
export async function listCopies(db: Reader, pieces: readonly string[]): Promise<number[]> {
  if (pieces.length === 0) return [];
  const { contains } = dialectOf(db);
  const found = new Set<number>();
  for (const [table, [index, columns]] of Object.entries(COLUMNS)) {
    const conditions = columns.flatMap((column) => pieces.map((_, place) => contains(column, `$${place + 1}`)));
    const sql = `SELECT ${index} AS idx FROM ${table} WHERE ${conditions.join(' OR ')} ORDER BY ${index} LIMIT ${MAX_COPIES}`;
    for (const { idx } of await db.query<{ idx: number }>(sql, pieces)) found.add(idx);
  }
  return [...found].sort((left, right) => left - right).slice(0, MAX_COPIES);
}

/** The files of the spool that have one of these pieces: events that wait, or that no server could read. */
export function listSpooledCopies(folder: string, pieces: readonly string[]): string[] {
  return listNames(folder).filter((name) => {
    const text = readSpoolFile(folder, name);
    return text !== undefined && pieces.some((piece) => text.includes(piece));
  });
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // No hook has run here.
    return [];
  }
}
