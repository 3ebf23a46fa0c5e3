import type { Reader } from '../../db/database.ts';
import {
  type Entry,
  entryDefect,
  isErasable,
  isRedactable,
  parseEntry,
  type Redaction,
  redactionDefect,
  storedDigest,
} from '../../integrity/index.ts';
import type { LoggedEntry } from '../reference/stored-entries.ts';
import type { RedactedEntry, Report } from '../report.ts';
import { erasureDefect, type Redactions } from './finder.ts';

interface RedactionRow {
  readonly redacts: unknown;
  readonly salt: unknown;
  readonly content: unknown;
}

/** Checks the entries that redact others, the rules between them, and the table of redactions. */
export class RedactionCheck {
  readonly redacted: RedactedEntry[] = [];
  readonly #reader: Reader;
  readonly #report: Report;
  readonly #seen = new Set<number>();
  #entries = 0;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  async page(entries: readonly LoggedEntry[], redactions: Redactions): Promise<void> {
    for (const { index, entry } of entries) if (entry.kind === 'redaction') await this.#check(index, entry, redactions);
  }

  /** Every entry has its row, so another number of rows means that there are orphans or duplicates. */
  async finish(): Promise<void> {
    const [counted] = await this.#reader.query<{ rows: number }>('SELECT COUNT(*) AS rows FROM redactions');
    if (counted?.rows !== this.#entries)
      this.#report('redactions', `has ${counted?.rows} rows where the log has ${this.#entries} entries`);
  }

  async #check(index: number, entry: Entry, redactions: Redactions): Promise<void> {
    this.#entries += 1;
    const sql = 'SELECT redacts, salt, content FROM redactions WHERE idx = $1';
    const [row] = await this.#reader.query<RedactionRow>(sql, [index]);
    if (row?.redacts !== entry['redacts']) this.#report(`entry ${index}`, 'has no matching row in redactions');
    // Its own defect is reported already.
    if (entryDefect(entry) !== undefined) return;
    const { redacts, actor: by, at } = entry as Redaction;
    const defect = (await this.#defectOf(index, entry as Redaction)) ?? reasonDefect(index, entry, row, redactions);
    if (defect !== undefined) this.#report(`entry ${index}`, defect);
    this.#seen.add(redacts);
    this.redacted.push({ entry: redacts, by, at, redaction: index });
  }

  async #defectOf(index: number, { redacts, remains }: Redaction): Promise<string | undefined> {
    if (redacts >= index) return `redacts entry ${redacts}, which does not come before it`;
    if (this.#seen.has(redacts)) return `redacts entry ${redacts}, which was redacted before`;
    const sql = 'SELECT entry FROM ledger_entries WHERE idx = $1';
    const [row] = await this.#reader.query<{ entry: string }>(sql, [redacts]);
    const kind = parseEntry(row?.entry ?? '')?.kind;
    if (kind === undefined || !isRedactable(kind))
      return `redacts entry ${redacts}, which has no content that can be redacted`;
    if (isErasable(kind) === (remains === undefined)) return undefined;
    return remains === undefined
      ? `redacts entry ${redacts} without a digest of what remains of the task`
      : `redacts entry ${redacts} with a digest of remains, which its kind does not have`;
  }
}

function reasonDefect(
  index: number,
  entry: Entry,
  row: RedactionRow | undefined,
  redactions: Redactions,
): string | undefined {
  const { salt, content } = row ?? {};
  const redaction = redactions.get(index);
  if (redaction !== undefined) return erasureDefect('redaction', redaction, { salt, content });
  if (typeof content !== 'string' || storedDigest('redaction', salt, content) !== entry['reason'])
    return 'has no stored reason that matches its digest';
  const defect = redactionDefect(content);
  return defect && `has a reason that breaks the grammar: the text ${defect}`;
}
