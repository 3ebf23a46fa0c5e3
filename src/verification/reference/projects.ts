import type { Reader } from '../../db/database.ts';
import { type Approval, isApproved } from '../../domains/tasks/review/rules.ts';
import { listApprovals } from '../../domains/tasks/review/sign-off.ts';
import { type Entry, parseJson, projectOptionsDefect, REDACTED_TYPE, storedDigest } from '../../integrity/index.ts';
import type { StoredOptions } from '../replay/replay.ts';
import type { Finish } from '../replay/review-replay.ts';
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
  readonly #onOptions: (index: number, options: StoredOptions) => void;
  #entries = 0;

  /** `onOptions` receives the options of each entry that they match. */
  constructor(reader: Reader, report: Report, onOptions: (index: number, options: StoredOptions) => void) {
    this.#reader = reader;
    this.#report = report;
    this.#onOptions = onOptions;
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
    const options = parseJson(content) as StoredOptions;
    this.#onOptions(index, options);
    if (options.project !== project)
      this.#report(`entry ${index}`, 'has options that are stored under another project');
  }
}

/** Reports tasks that were finished without the approval that their project required at that point of the log. */
export async function checkSignOffs(reader: Reader, finished: readonly Finish[], report: Report): Promise<void> {
  for (const { index, taskNo, project, actor, policy, review } of finished) {
    const range = { after: review.index, before: index };
    const approvals = [
      ...(await listApprovals(reader, taskNo, range)),
      ...(await listErasedApprovals(reader, taskNo, range)),
    ];
    if (!isApproved(actor, policy, { ...review, approvals }))
      report(
        `task event ${index}`,
        `finishes a task without the approval that ${project} requires (review: ${policy})`,
      );
  }
}

/** A thought that was redacted since may have been an approval: what it said is not known any longer. */
async function listErasedApprovals(
  reader: Reader,
  taskNo: number,
  { after, before }: { readonly after: number; readonly before: number },
): Promise<Approval[]> {
  const rows = await reader.query<{ recorded_by: string }>(
    'SELECT recorded_by FROM thoughts WHERE task_no = $1 AND idx > $2 AND idx < $3 AND type = $4',
    [taskNo, after, before, REDACTED_TYPE],
  );
  return rows.map(({ recorded_by: by }) => ({ by, version: before }));
}
