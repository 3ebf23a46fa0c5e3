import type { Reader } from '../../db/database.ts';
import { type RecordedCommit, toCommit } from '../../integrity/evidence/commits.ts';
import type { ObservedRun } from '../../integrity/evidence/compare.ts';
import {
  type HiddenRun,
  isEnd,
  isUnanswered,
  listHiddenRuns,
  listRuns,
  type Observation,
  type ObservedFields,
  readCommand,
} from '../../integrity/evidence/observation.ts';
import { attachmentOf, decidedKeys, NO_TASK, parseJson } from '../../integrity/index.ts';
import {
  findLastObservation,
  listCommitObservations,
  listLastObservations,
  listObservationsBetween,
  listObservationsOfCommit,
  type ObservationRow,
} from './observations.ts';

export interface ObservedEdit {
  readonly entry: number;
  readonly at: string;
}

/** What was observed for a task. */
export interface ObservedWork {
  readonly runs: readonly ObservedRun[];
  readonly hiddenRuns: readonly HiddenRun[];
  /** Changes of files by the tools of a client. What commands change is not known. */
  readonly edits: readonly ObservedEdit[];
  /** The commits that were recorded for the task, oldest first. */
  readonly commits: readonly RecordedCommit[];
  /** Whether anything was observed. */
  readonly isEmpty: boolean;
  /** Set if the limit was reached, so that there may be older observations. */
  readonly mayBeCut: boolean;
}

/** Enough for weeks of work on one task; more would make every look at it slow. */
export const MAX_OBSERVATIONS = 5000;

/**
 * An abbreviated hash is looked up in this many observations of the ledger, whose commits have no index of their own.
 */
const MAX_OTHERS = 2000;

/** Reads the newest observations of a task: bounded, and by an index. */
export async function readObservedWork(
  db: Reader,
  taskNo: number,
  limit = MAX_OBSERVATIONS,
  maxLater = MAX_LATER,
): Promise<ObservedWork> {
  const { rows, own } = await readOwn(db, taskNo, limit);
  const later = await readLater(db, own, maxLater);
  const all = [...own, ...later.observed];
  return {
    runs: listRuns(all),
    hiddenRuns: listHiddenRuns(all),
    edits: [...listEdits(all), ...later.assumedEdits],
    commits: own.flatMap(({ entry, fields }) => toCommit(entry, fields)),
    isEmpty: rows.length === 0,
    mayBeCut: rows.length === limit,
  };
}

/**
 * The entries of commands and edits after review, which count for the task though they belong to none; in log order.
 */
export async function listWorkAfterReview(db: Reader, taskNo: number): Promise<number[]> {
  const { own } = await readOwn(db, taskNo, MAX_OBSERVATIONS);
  const { observed } = await readLater(db, own, MAX_LATER);
  const work = observed.filter(({ fields: { action } }) => action === 'shell' || action === 'edit');
  return work.map(({ entry }) => entry).toSorted((left, right) => left - right);
}

async function readOwn(db: Reader, taskNo: number, limit: number) {
  const rows = await listLastObservations(db, taskNo, limit);
  return { rows, own: rows.filter(isWork).flatMap(toObservation) };
}

/** The newest commits of the ledger, of whichever task, oldest first. */
export async function listCommits(db: Reader): Promise<RecordedCommit[]> {
  const rows = await listCommitObservations(db, MAX_OTHERS);
  return rows.flatMap(toObservation).flatMap(({ entry, fields }) => toCommit(entry, fields));
}

/** A commit by its full hash, however old it is. */
export async function findCommit(db: Reader, sha: string): Promise<RecordedCommit | undefined> {
  const rows = await listObservationsOfCommit(db, sha);
  return rows.flatMap(toObservation).flatMap(({ entry, fields }) => toCommit(entry, fields))[0];
}

/** Whether a row of a task says something here. Most do not, and parsing takes longer than reading. */
function isWork({ entry: text }: ObservationRow): boolean {
  const entry = text ?? '';
  // Quotes inside a text are escaped, so only fields match.
  return /"action":"(?:edit|shell)"|"kind":"observed.commit"/.test(entry) || !isHeld(entry);
}

/** Whether the session, or a sub-agent with a claim of its own, holds a task after the entry. */
function isHeld(entry: string): boolean {
  const ofAgent = '"agent_task":';
  return entry.includes(ofAgent) ? !entry.includes(`${ofAgent}"${NO_TASK}"`) : entry.includes('"session_task":');
}

/** Verification reports rows that cannot be read; they are evidence of nothing. */
function toObservation({ idx, entry, salt, content }: ObservationRow): Observation[] {
  try {
    return [{ entry: idx, fields: parseJson(entry ?? '') as ObservedFields, salt, command: readCommand(content) }];
  } catch {
    return [];
  }
}

/** Announced edits whose end no client reported may have happened. */
function listEdits(all: readonly Observation[]): ObservedEdit[] {
  const ended = new Set(all.flatMap(({ fields }) => (isEnd(fields) ? callOf(fields) : [])));
  const isEdit = ({ fields }: Observation): boolean => {
    if (fields.action !== 'edit') return false;
    if (fields.phase === 'before') return callOf(fields).some((call) => !ended.has(call));
    return isUnanswered(fields) || (fields.phase === 'after' && fields.outcome !== 'failed');
  };
  return all.filter(isEdit).map(({ entry, fields }) => ({ entry, at: fields.at }));
}

function callOf({ session, call_id: id }: ObservedFields): string[] {
  return id === undefined ? [] : [JSON.stringify([session, id])];
}

/** Observations that are read in search of what sessions did after review. */
const MAX_LATER = 5000;
const PAGE = 500;

/** What a session and its sub-agent did after an entry that gave a task up, while they held none. */
interface Gap {
  readonly session: string;
  readonly after: number;
  /** The last entry that can belong to it, by the key of the attachment. */
  readonly ends: ReadonlyMap<string, number>;
}

interface Later {
  readonly observed: Observation[];
  /** Each stands for what was not read, which may be an edit. */
  readonly assumedEdits: ObservedEdit[];
}

/**
 * What sessions did after they brought the task to review and before they took another one. Such an event belongs to no
 * task, but a run of the tests before `done` is about the task that the session has just worked on.
 */
async function readLater(db: Reader, own: readonly Observation[], maxLater: number): Promise<Later> {
  const later: Later = { observed: [], assumedEdits: [] };
  let left = maxLater;
  for (const { session, after, ends } of await listGaps(db, own)) {
    const open = new Map(ends);
    for (let place = after, end = lastOf(open); place < end; end = lastOf(open)) {
      const rows = left > 0 ? await listObservationsBetween(db, place, end, Math.min(left, PAGE)) : [];
      left -= rows.length;
      if (rows.length === 0 && left <= 0) later.assumedEdits.push({ entry: end, at: '' });
      const found = rows.filter(({ entry }) => entry?.includes(`"session":${JSON.stringify(session)}`));
      later.observed.push(...found.flatMap(toObservation).filter((one) => isInGap(open, one)));
      place = rows.at(-1)?.idx ?? end;
    }
  }
  return later;
}

function lastOf(ends: ReadonlyMap<string, number>): number {
  return Math.max(-1, ...ends.values());
}

/** An event with a task ends the gap of its attachment. Reports about a session name a task too, and take none. */
function isInGap(open: Map<string, number>, { entry, fields }: Observation): boolean {
  if (fields.kind !== 'observed') return false;
  const keys = decidedKeys(fields).filter((key) => entry <= (open.get(key) ?? -1));
  if (fields.task_id !== undefined) for (const key of keys) open.delete(key);
  return keys.length > 0 && fields.task_id === undefined;
}

/** The newest first: an edit before the last run of a command does not matter. */
async function listGaps(db: Reader, own: readonly Observation[]): Promise<Gap[]> {
  const gaps: Gap[] = [];
  const nexts = new Map<string, number>();
  for (const { entry, fields } of own.toReversed()) {
    const { kind, session } = fields;
    if (kind !== 'observed' || session === undefined) continue;
    const isGivenUp = attachmentOf(fields).task === undefined;
    const ends = new Map<string, number>();
    for (const key of decidedKeys(fields)) {
      if (isGivenUp) ends.set(key, (nexts.get(key) ?? (await findLast(db, key)) + 1) - 1);
      nexts.set(key, entry);
    }
    if (isGivenUp) gaps.push({ session, after: entry, ends });
  }
  return gaps;
}

/** Stands for a missing row, which verification reports: nothing may hide behind it. */
const LAST_POSSIBLE = 2 ** 31 - 2;

async function findLast(db: Reader, key: string): Promise<number> {
  return (await findLastObservation(db, key)) ?? LAST_POSSIBLE;
}
