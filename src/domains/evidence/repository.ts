import { dirname } from 'node:path';
import type { Reader } from '../../db/database.ts';
import { hasCommit } from '../../git/has-commit.ts';
import { formatThoughtId } from '../../ids.ts';
import { canonicalize, parseJson, saltedDigest } from '../../integrity/index.ts';
import type { CutList } from '../trail/cut-list.ts';
import {
  compareCommit,
  compareTests,
  createRunFinder,
  type Evidence,
  type KnownCommit,
  type ObservedRun,
  type Said,
} from './compare.ts';
import {
  countObservations,
  findCommit,
  listCommits,
  MAX_OBSERVATIONS,
  type ObservedWork,
  type RecordedCommit,
  readObservedWork,
} from './observed-work.ts';
import { readStatements } from './statement.ts';

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
  const commands = new Set(said.flatMap(commandsOf));
  const findRun = createRunFinder([...work.runs, ...revealRuns(work, commands)], commands);
  const findCommit = await createCommitFinder(db, work, said);
  const items = said.map((one) =>
    one.field === 'tests_run' ? compareTests(one, findRun) : compareCommit(one, findCommit(one)),
  );
  const observations = work.mayBeCut ? await countObservations(db, taskNo) : 0;
  return { items, total: all.length, ...(observations > limit ? { observations } : {}) };
}

function commandsOf({ field, value }: Said): string[] {
  return field === 'tests_run' ? readStatements(value).map(({ command }) => command) : [];
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

/** A tampered row says nothing. */
function readExtras(extras: string): Pick<Said, 'field' | 'value'>[] {
  try {
    const { tests_run, commit_sha } = parseJson(extras) as Readonly<Record<string, unknown>>;
    const tests = (Array.isArray(tests_run) ? tests_run : []).filter((item) => typeof item === 'string');
    return [
      ...tests.map((value) => ({ field: 'tests_run' as const, value })),
      ...(typeof commit_sha === 'string' ? [{ field: 'commit_sha' as const, value: commit_sha }] : []),
    ];
  } catch {
    return [];
  }
}

/** Maximum number of hashes per answer: a digest can only be compared with the digests of guesses. */
const MAX_GUESSES = 20_000;

/** With digests alone, a command is known only if its tool takes nothing beside it, so that its input can be guessed. */
export function revealRuns({ hiddenRuns }: ObservedWork, commands: ReadonlySet<string>): ObservedRun[] {
  const inputs = [...commands].flatMap((command) =>
    ['command', 'cmd'].map((name) => ({ command, text: canonicalize({ [name]: command }) })),
  );
  const count = Math.min(hiddenRuns.length, Math.floor(MAX_GUESSES / Math.max(1, inputs.length)));
  return hiddenRuns.slice(hiddenRuns.length - count).flatMap(({ salt, input, ...run }) => {
    const found = inputs.find(({ text }) => saltedDigest('observed-input', salt, text) === input);
    return found === undefined ? [] : [{ ...run, command: found.command }];
  });
}

async function createCommitFinder(
  db: Reader,
  { commits: own }: ObservedWork,
  said: readonly Said[],
): Promise<(said: Said) => KnownCommit> {
  const hashes = new Set(said.flatMap(({ field, value }) => (field === 'commit_sha' ? [value.toLowerCase()] : [])));
  const missing = [...hashes].filter((sha) => findBySha(own, sha) === undefined);
  const newest = missing.length === 0 ? [] : await listCommits(db);
  const older: RecordedCommit[] = [];
  for (const sha of missing) {
    const found = findBySha(newest, sha) === undefined ? await findCommit(db, sha) : undefined;
    if (found !== undefined) older.push(found);
  }
  const commits = [...own, ...newest, ...older];
  const recordedSince = commits.map(({ at }) => at).toSorted()[0];
  const folder = missing.length === 0 ? undefined : await findLedgerFolder(db);
  return ({ value }) => {
    const entry = findBySha(commits, value)?.entry;
    return {
      entry,
      isNamed: commits.some(({ names }) => names.some((name) => name.startsWith(value.toLowerCase()))),
      recordedSince,
      isThere: entry !== undefined || folder === undefined ? undefined : hasCommit(folder, value.toLowerCase()),
    };
  };
}

/** Undefined for a server of several machines, each with a repository of its own, and for a ledger in memory. */
async function findLedgerFolder(db: Reader): Promise<string | undefined> {
  if (db.engine !== 'sqlite') return undefined;
  const files = await db.query<{ name: string; file: string }>('PRAGMA database_list');
  const path = files.find(({ name }) => name === 'main')?.file ?? '';
  return path === '' ? undefined : dirname(path);
}

/** A thought may abbreviate the hash, as git does. */
function findBySha(commits: readonly RecordedCommit[], sha: string): RecordedCommit | undefined {
  const start = sha.toLowerCase();
  return commits.find((commit) => commit.sha.startsWith(start));
}
