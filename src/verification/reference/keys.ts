import type { Reader } from '../../db/database.ts';
import { type Entry, entryDefect, type KeyStatement, keyStatementDefect, originOf } from '../../integrity/index.ts';
import type { Report } from '../report.ts';
import type { LoggedEntry } from './stored-entries.ts';

interface KeyRow {
  readonly key: unknown;
  readonly replaces: unknown;
}

/** Checks the signatures in the entries that introduce keys, the rules between them, and the table of keys. */
export class KeyCheck {
  readonly #reader: Reader;
  readonly #report: Report;
  readonly #keys = new Set<string>();
  readonly #replaced = new Set<string>();
  #origin = '';
  /** Entries before this one belong to earlier logs. */
  #continuedSize = 0;
  #entries = 0;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  async page(entries: readonly LoggedEntry[]): Promise<void> {
    for (const { index, entry } of entries) {
      if (entry.kind === 'genesis' && index === 0) {
        this.#origin = originOf(entry['ledger_id'] as string);
        this.#continuedSize = (entry['continues'] as { size?: number } | undefined)?.size ?? 0;
      }
      if (entry.kind === 'key.added') await this.#check(index, entry);
    }
  }

  /** Every entry has its row, so another number of rows means that there are orphans or duplicates. */
  async finish(): Promise<void> {
    const [counted] = await this.#reader.query<{ rows: number }>('SELECT COUNT(*) AS rows FROM ledger_keys');
    if (counted?.rows !== this.#entries)
      this.#report('ledger_keys', `has ${counted?.rows} rows where the log has ${this.#entries} entries`);
  }

  async #check(index: number, entry: Entry): Promise<void> {
    this.#entries += 1;
    const sql = 'SELECT key, replaces FROM ledger_keys WHERE idx = $1';
    const [row] = await this.#reader.query<KeyRow>(sql, [index]);
    if (row?.key !== entry['key'] || row?.replaces !== (entry['replaces'] ?? null))
      this.#report(`entry ${index}`, 'has no matching row in ledger_keys');
    // Its own defect is reported already.
    if (entryDefect(entry) !== undefined) return;
    const defect = this.#defectOf(index, entry as Entry & KeyStatement);
    if (defect !== undefined) this.#report(`entry ${index}`, `introduces a key and ${defect}`);
  }

  #defectOf(index: number, statement: KeyStatement): string | undefined {
    const { key, replaces } = statement;
    const defect = keyStatementDefect(statement) ?? this.#conflictOf(index, statement);
    this.#keys.add(key);
    if (replaces !== undefined) this.#replaced.add(replaces);
    return defect;
  }

  #conflictOf(index: number, { key, replaces }: KeyStatement): string | undefined {
    if (index >= this.#continuedSize && !key.startsWith(`${this.#origin}+`)) return 'names another log';
    if (this.#keys.has(key)) return 'the log has it already';
    if (replaces === undefined) return undefined;
    if (!this.#keys.has(replaces)) return 'replaces one that the log does not have';
    return this.#replaced.has(replaces) ? 'replaces one that was replaced before' : undefined;
  }
}
