import type { Reader } from '../../db/database.ts';
import { commitKey, parseEntry } from '../../integrity/index.ts';

/** A commit as the log has it. */
export interface RecordedCommit {
  readonly index: number;
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly rewrites: string | undefined;
}

const PAGE = 500;

interface EntryRow {
  readonly idx: number;
  readonly entry: string;
}

/** Every recorded commit in log order, page by page. */
export async function* listRecordedCommits(reader: Reader): AsyncGenerator<readonly RecordedCommit[]> {
  for (let last = -1; ; ) {
    // Canonical JSON writes a member in exactly one form.
    const rows = await reader.query<EntryRow>(
      `SELECT observations.idx AS idx, entry FROM observations
       JOIN ledger_entries ON ledger_entries.idx = observations.idx
       WHERE observations.idx > $1 AND entry LIKE '%"kind":"observed.commit"%' ORDER BY observations.idx LIMIT ${PAGE}`,
      [last],
    );
    const commits = rows.flatMap(toCommit);
    if (commits.length > 0) yield commits;
    if (rows.length < PAGE) return;
    last = rows.at(-1)?.idx ?? last;
  }
}

/** The entry that records a commit, found by its whole hash. */
export async function findRecordedCommit(reader: Reader, sha: string): Promise<number | undefined> {
  const [row] = await reader.query<{ idx: number }>('SELECT idx FROM observations WHERE key = $1', [commitKey(sha)]);
  return row?.idx;
}

function toCommit({ idx, entry: text }: EntryRow): RecordedCommit[] {
  const entry = parseEntry(text);
  if (entry?.kind !== 'observed.commit') return [];
  const { sha, tree, parents, rewrites } = entry as unknown as Omit<RecordedCommit, 'index'>;
  return [{ index: idx, sha, tree, parents, rewrites }];
}
