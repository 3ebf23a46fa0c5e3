import { dirname } from 'node:path';
import type { Reader } from '../../db/database.ts';
import { hasCommit } from '../../git/has-commit.ts';
import { formatThoughtId } from '../../ids.ts';
import { createCommitFinder, findBySha, type RecordedCommit } from '../../integrity/evidence/commits.ts';
import {
  compareCommit,
  compareTests,
  createRunFinder,
  type Evidence,
  type KnownCommit,
  type Said,
} from '../../integrity/evidence/compare.ts';
import { revealRuns } from '../../integrity/evidence/hidden-runs.ts';
import { commandsOf, readExtras } from '../../integrity/evidence/said.ts';
import type { CutList } from '../trail/cut-list.ts';
import { countObservations } from './observations.ts';
import { findCommit, listCommits, MAX_OBSERVATIONS, type ObservedWork, readObservedWork } from './observed-work.ts';

export interface TaskEvidence extends CutList<Evidence> {
  /** The number of observations of the task, if only the newest were compared. */
  readonly observations?: number;
}

const MAX_THOUGHTS = 500;
const MAX_ITEMS = 500;

/** What the last thoughts of a task say about tests and commits, compared with what was observed; oldest first. */
export async function readEvidence(db: Reader, taskNo: number, limit = MAX_OBSERVATIONS): Promise<TaskEvidence> {
  const all = await listSaid(db, taskNo);
  if (all.length === 0) return { items: [], total: 0 };
  const said = all.slice(-MAX_ITEMS);
  const work = await readObservedWork(db, taskNo, limit);
  const commands = commandsOf(said);
  const findRun = createRunFinder([...work.runs, ...revealRuns(work.hiddenRuns, commands)], commands);
  const commitOf = await readCommits(db, work, said);
  const items = said.map((one) =>
    one.field === 'tests_run' ? compareTests(one, findRun) : compareCommit(one, commitOf(one.value)),
  );
  const observations = work.mayBeCut ? await countObservations(db, taskNo) : 0;
  return { items, total: all.length, ...(observations > limit ? { observations } : {}) };
}

interface SaidRow {
  readonly thought_no: number;
  readonly attempt: number;
  readonly recorded_at: string;
  readonly extras: string;
}

async function listSaid(db: Reader, taskNo: number): Promise<Said[]> {
  const rows = await db.query<SaidRow>(
    `SELECT thought_no, attempt, recorded_at, extras FROM
       (SELECT * FROM thoughts WHERE task_no = $1 ORDER BY chain_position DESC LIMIT $2) AS newest
     WHERE extras LIKE '%"tests_run"%' OR extras LIKE '%"commit_sha"%' ORDER BY chain_position`,
    [taskNo, MAX_THOUGHTS],
  );
  const beginnings = new Map<number, string>();
  for (const attempt of new Set(rows.map((row) => row.attempt)))
    beginnings.set(attempt, attempt > 1 ? await findBeginning(db, taskNo, attempt) : '');
  return rows.flatMap(({ thought_no, attempt, recorded_at: at, extras }) => {
    const common = { thought_id: formatThoughtId(thought_no), at, since: beginnings.get(attempt) ?? '' };
    return readExtras(extras).map((item) => ({ ...common, ...item }));
  });
}

/** When the task was sent back for this attempt. */
async function findBeginning(db: Reader, taskNo: number, attempt: number): Promise<string> {
  const [version] = await db.query<{ entry: string }>(
    `SELECT ledger_entries.entry FROM ledger_entries JOIN
       (SELECT MIN(idx) AS idx FROM
         (SELECT idx FROM task_versions WHERE task_no = $1 AND content LIKE $2
          UNION ALL SELECT event_idx AS idx FROM tasks WHERE task_no = $1) AS versions) AS begun
       ON begun.idx = ledger_entries.idx`,
    [taskNo, `%"attempt":${attempt},%`],
  );
  const [, at = ''] = /"at":"([^"]*)"/.exec(version?.entry ?? '') ?? [];
  return at;
}

async function readCommits(
  db: Reader,
  { commits: own }: ObservedWork,
  said: readonly Said[],
): Promise<(sha: string) => KnownCommit> {
  const hashes = new Set(said.flatMap(({ field, value }) => (field === 'commit_sha' ? [value.toLowerCase()] : [])));
  const missing = [...hashes].filter((sha) => findBySha(own, sha) === undefined);
  const newest = missing.length === 0 ? [] : await listCommits(db);
  const older: RecordedCommit[] = [];
  for (const sha of missing) {
    const found = findBySha(newest, sha) === undefined ? await findCommit(db, sha) : undefined;
    if (found !== undefined) older.push(found);
  }
  const folder = missing.length === 0 ? undefined : await findLedgerFolder(db);
  const isThere = (sha: string) => (folder === undefined ? undefined : hasCommit(folder, sha));
  return createCommitFinder([...own, ...newest, ...older], isThere);
}

/** Undefined for a server of several machines, each with a repository of its own, and for a ledger in memory. */
async function findLedgerFolder(db: Reader): Promise<string | undefined> {
  if (db.engine !== 'sqlite') return undefined;
  const files = await db.query<{ name: string; file: string }>('PRAGMA database_list');
  const path = files.find(({ name }) => name === 'main')?.file ?? '';
  return path === '' ? undefined : dirname(path);
}
