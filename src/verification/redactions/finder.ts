import type { Reader } from '../../db/database.ts';
import {
  type Digest,
  ERASED_SALT,
  type ErasableKind,
  entryDefect,
  erasedContent,
  parseEntry,
  type Redaction,
  redactionNote,
} from '../../integrity/index.ts';

/** A redaction as the log has it. */
export interface LoggedRedaction {
  readonly index: number;
  /** Placeholder for each text. */
  readonly note: string;
  /** For a task event, the digest of what remains of the task. */
  readonly remains: Digest | undefined;
}

/** Keyed by the index of the redacted entry. */
export type Redactions = ReadonlyMap<number, LoggedRedaction>;

/** Entries of the log from `begin` to before `end`, and who has redacted some of them. */
export interface EntryRange {
  readonly begin: number;
  readonly end: number;
  readonly redactions: Redactions;
}

const NONE: Redactions = new Map();

/** Finds who has redacted which entries. A row of the table counts only if an entry of the log says the same. */
export class RedactionFinder {
  readonly #reader: Reader;
  #areThereAny: Promise<boolean> | undefined;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async find(index: number): Promise<LoggedRedaction | undefined> {
    return (await this.between(index, index + 1)).get(index);
  }

  async hasAnyOf(indexes: readonly number[]): Promise<boolean> {
    const [begin, end] = indexes.reduce(
      ([least, most], index) => [Math.min(least, index), Math.max(most, index)],
      [Number.POSITIVE_INFINITY, -1],
    );
    const found = begin > end ? NONE : await this.between(begin, end + 1);
    return found.size > 0 && indexes.some((index) => found.has(index));
  }

  /** The redactions of the entries from `begin` to before `end`. */
  async between(begin: number, end: number): Promise<Redactions> {
    this.#areThereAny ??= this.#reader.query('SELECT 1 FROM redactions LIMIT 1').then((rows) => rows.length > 0);
    if (!(await this.#areThereAny)) return NONE;
    const rows = await this.#reader.query<{ idx: number; redacts: number; entry: string | null }>(
      `SELECT redactions.idx, redactions.redacts, ledger_entries.entry
       FROM redactions LEFT JOIN ledger_entries ON ledger_entries.idx = redactions.idx
       WHERE redacts >= $1 AND redacts < $2 ORDER BY redactions.idx`,
      [begin, end],
    );
    const found = new Map<number, LoggedRedaction>();
    for (const { idx: index, redacts, entry: text } of rows) {
      const entry = parseEntry(text ?? '');
      if (entry?.kind !== 'redaction' || entryDefect(entry) !== undefined) continue;
      const redaction = entry as Redaction;
      if (redaction.redacts !== redacts || redacts >= index || found.has(redacts)) continue;
      found.set(redacts, { index, note: redactionNote(redaction), remains: redaction.remains });
    }
    return found;
  }
}

/** Describes what is wrong with the stored placeholder of redacted content; undefined if no content is left. */
export function erasureDefect(
  kind: ErasableKind,
  { index, note }: LoggedRedaction,
  { salt, content }: { readonly salt: unknown; readonly content: unknown },
): string | undefined {
  if (content !== erasedContent(kind, note)) return `was redacted by entry ${index} and has content`;
  return salt === ERASED_SALT ? undefined : `was redacted by entry ${index} and has a salt`;
}
