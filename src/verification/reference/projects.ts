import type { Reader } from '../../db/database.ts';
import { type Entry, parseJson, projectOptionsDefect, storedDigest } from '../../integrity/index.ts';
import type { Report } from '../report.ts';
import type { LoggedEntry } from './stored-entries.ts';

interface OptionsRow {
  readonly project: unknown;
  readonly salt: unknown;
  readonly content: unknown;
}

/** Compares the stored options of projects with the entries that set them. */
export class ProjectCheck {
  readonly #reader: Reader;
  readonly #report: Report;
  #entries = 0;

  constructor(reader: Reader, report: Report) {
    this.#reader = reader;
    this.#report = report;
  }

  async page(entries: readonly LoggedEntry[]): Promise<void> {
    for (const { index, entry } of entries) if (entry.kind === 'project.options') await this.#check(index, entry);
  }

  /** Every entry has its row, so another number of rows means that there are orphans or duplicates. */
  async finish(): Promise<void> {
    const [counted] = await this.#reader.query<{ rows: number }>('SELECT COUNT(*) AS rows FROM project_options');
    if (counted?.rows !== this.#entries)
      this.#report('project_options', `has ${counted?.rows} rows where the log has ${this.#entries} entries`);
  }

  async #check(index: number, entry: Entry): Promise<void> {
    this.#entries += 1;
    const [row] = await this.#reader.query<OptionsRow>(
      'SELECT project, salt, content FROM project_options WHERE idx = $1',
      [index],
    );
    const { project, salt, content } = row ?? {};
    if (typeof content !== 'string' || storedDigest('options', salt, content) !== entry['options'])
      return this.#report(`entry ${index}`, 'has no stored project options that match its digest');
    const defect = projectOptionsDefect(content);
    if (defect !== undefined)
      return this.#report(`entry ${index}`, `has project options that break the grammar: the text ${defect}`);
    if ((parseJson(content) as { readonly project: string }).project !== project)
      this.#report(`entry ${index}`, 'has options that are stored under another project');
  }
}
