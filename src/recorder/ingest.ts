import type { Database } from '../db/database.ts';
import { isHeldStatus } from '../domains/tasks/workflows.ts';
import { findHomeFolder } from '../home-folder.ts';
import { type Entry, entryDefect, observedContentDefect, RECORDER_PREFIX, saltedDigest } from '../integrity/index.ts';
import { toCommitObservations } from './git/commit-observations.ts';
import { parseCommits } from './git/parse-commits.ts';
import { listOwnSpool } from './own-spool.ts';
import { type Observation, recordObservations, type TaskClaim } from './record.ts';
import { findStop } from './reports/find-stop.ts';
import { reportSession, type Stop } from './reports/report-session.ts';
import { renewSigns } from './signs-of-life.ts';
import { listRejected, readmitSpoolFile, readSpoolFile, rejectSpoolFile, removeSpoolFile } from './spool.ts';
import { parseSpooled, type SpooledEvent, UNNAMED } from './spooled-event.ts';

/** One transaction holds the write lock for a few milliseconds. */
export const MAX_BATCH = 200;

export interface Ingested {
  readonly recorded: number;
  /** Files that no hook could have written. They stay beside the others under another name. */
  readonly rejected: number;
  /** Set if the time limit left events in the spool. */
  readonly isLate?: true;
}

export interface IngestOptions {
  /** Where transcripts are looked for. */
  readonly home?: string | undefined;
  /** Leaves the reports about sessions, which read transcripts, to the next one that ingests. */
  readonly isHurried?: boolean;
  /** Begins no other batch after this time. */
  readonly timeLimitMs?: number;
}

/**
 * Adds the events that wait in the spool to the ledger, oldest first. A file is removed after its entry is on disk; an
 * event that is ingested twice is recorded once, so several processes may do this at the same time.
 */
export async function ingest(
  database: Database,
  folder: string,
  { home = findHomeFolder(), isHurried = false, timeLimitMs = Number.POSITIVE_INFINITY }: IngestOptions = {},
): Promise<Ingested> {
  const begunMs = performance.now();
  let [recorded, rejected] = [0, 0];
  const stops = new Map<string, WaitingStop>();
  for (let names = listOwnSpool(folder); names.length > 0; names = names.slice(MAX_BATCH)) {
    if (performance.now() - begunMs >= timeLimitMs) return { recorded, rejected, isLate: true };
    const batch = names.slice(0, MAX_BATCH);
    const observations: Observation[] = [];
    const done: string[] = [];
    for (const name of batch) {
      const text = readSpoolFile(folder, name);
      // Another process was faster.
      if (text === undefined) continue;
      const event = parseSpooled(text);
      const found = event === undefined ? await toCommitObservations(database, text) : toObservation(event);
      if (found === undefined) {
        rejectSpoolFile(folder, name);
        rejected += 1;
        continue;
      }
      observations.push(...[found].flat());
      const stop = event && findStop(event);
      if (stop === undefined) done.push(name);
      else addStop(stops, stop, name);
    }
    if (observations.length > 0)
      recorded += await database.write({ durable: true }, async (db) => {
        const count = await recordObservations(db, observations);
        await renewSigns(
          db,
          database.clock,
          observations.map(({ entry }) => entry),
          Date.now(),
        );
        return count;
      });
    for (const name of done) removeSpoolFile(folder, name);
  }
  if (isHurried) return { recorded, rejected };
  for (const { stop, names } of stops.values()) {
    await reportSession(database, stop, home);
    for (const name of names) removeSpoolFile(folder, name);
  }
  return { recorded, rejected };
}

/**
 * Lets files wait again that were rejected and are valid now. After an update, the hooks are those of the new version
 * while a server of the old one runs on, which does not know what they write.
 */
export function readmitRejected(folder: string): void {
  for (const name of listRejected(folder)) {
    const text = readSpoolFile(folder, name) ?? '';
    const event = parseSpooled(text);
    const isValid = event === undefined ? parseCommits(text) !== undefined : toObservation(event) !== undefined;
    if (isValid) readmitSpoolFile(folder, name);
  }
}

/** The last stop of a session, and the files of all its stops: a killed process leaves them for the next one. */
interface WaitingStop {
  readonly stop: Stop;
  readonly names: readonly string[];
}

function addStop(stops: Map<string, WaitingStop>, stop: Stop, name: string): void {
  const key = JSON.stringify([stop.session, stop.agent]);
  stops.set(key, { stop, names: [...(stops.get(key)?.names ?? []), name] });
}

/** Undefined if the entry of the event would not be one of the grammar. */
export function toObservation(event: SpooledEvent): Observation | undefined {
  const { salt } = event;
  const content = event.content ?? '{}';
  const entry = toEntry(event, content);
  if (entryDefect(entry) !== undefined || observedContentDefect('observed', content) !== undefined) return undefined;
  return { entry, salt, content, claim: claimOf(event) };
}

function toEntry(event: SpooledEvent, content: string): Entry {
  const { v, salt, content: _content, colibri: _colibri, transcript_path: _path, ...fields } = event;
  const known = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && !isBlank(value)));
  return {
    ...known,
    v,
    kind: 'observed',
    at: event.at,
    actor: `${RECORDER_PREFIX}${event.client}`,
    session: isBlank(event.session) ? UNNAMED : event.session,
    event: isBlank(event.event) ? UNNAMED : event.event,
    content: saltedDigest('observed-content', salt, content),
  };
}

/** A name of white space names nothing, and no entry may have it. */
function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

/** The session's own calls to Colibri pass by: they tell which task it holds. */
function claimOf({ phase, outcome, colibri }: SpooledEvent): TaskClaim | undefined {
  if (phase !== 'after' || outcome === 'failed' || colibri === null) return undefined;
  // Any actor may change a task; only its holder works on it.
  const { tool, task_id, status, claim, answered, holds = true } = colibri;
  if (tool !== 'task_update' || task_id === null || status === null) return undefined;
  const token = claim !== null && claim >= 0 ? claim : null;
  return { taskId: task_id, isHeld: holds && isHeldStatus(status), token, isRequest: !answered };
}
