import type { Reader } from '../../db/database.ts';
import { commitKey, parseEntry, parseJson } from '../../integrity/index.ts';

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

/** A commit that git reported for a task. */
export interface TaskCommit {
  readonly entry: number;
  readonly sha: string;
  readonly branch?: string;
  readonly at: string;
  readonly actor: string;
}

/** The newest observations of a task in which its commits are looked for, as in the comparison with its thoughts. */
const MAX_OBSERVATIONS = 5000;

/** The commits that git reported for a task, oldest first, without those that a later one replaced. */
export async function listTaskCommits(reader: Reader, taskNo: number): Promise<TaskCommit[]> {
  const rows = await reader.query<EntryRow & { content: string }>(
    `SELECT idx, entry, content FROM
       (SELECT idx, (SELECT entry FROM ledger_entries WHERE ledger_entries.idx = observations.idx) AS entry, content
        FROM observations WHERE task_no = $1 ORDER BY idx DESC LIMIT ${MAX_OBSERVATIONS}) AS newest
     WHERE entry LIKE '%"kind":"observed.commit"%' ORDER BY idx`,
    [taskNo],
  );
  const commits = new Map<string, TaskCommit>();
  for (const row of rows) {
    const entry = parseEntry(row.entry);
    const [{ sha, rewrites } = {}] = toCommit(row);
    if (entry === undefined || sha === undefined) continue;
    if (rewrites !== undefined) commits.delete(rewrites);
    if (commits.has(sha)) continue;
    const branch = readBranch(row.content);
    commits.set(sha, { entry: row.idx, sha, ...branch, at: entry.at, actor: entry.actor });
  }
  return [...commits.values()];
}

/** The content can have been removed; verification reports one that cannot be read. */
function readBranch(content: string): { branch?: string } {
  try {
    const { branch } = parseJson(content) as { branch?: unknown };
    return typeof branch === 'string' ? { branch } : {};
  } catch {
    return {};
  }
}

function toCommit({ idx, entry: text }: EntryRow): RecordedCommit[] {
  const entry = parseEntry(text);
  if (entry?.kind !== 'observed.commit') return [];
  const { sha, tree, parents, rewrites } = entry as unknown as Omit<RecordedCommit, 'index'>;
  return [{ index: idx, sha, tree, parents, rewrites }];
}
