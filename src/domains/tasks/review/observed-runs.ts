import type { Reader } from '../../../db/database.ts';
import { ColibriError } from '../../../errors.ts';
import { parseId } from '../../../ids.ts';
import { revealRuns } from '../../../integrity/evidence/hidden-runs.ts';
import { MAX_OBSERVATIONS, type ObservedWork, readObservedWork } from '../../evidence/observed-work.ts';
import { listMissing, type MissingRun } from '../../evidence/required-runs.ts';
import type { Task } from '../record.ts';
import type { ProjectOptions } from './options.ts';

/** What a project requires of a task, and what of it was not observed. */
export interface Unobserved {
  readonly missing: readonly MissingRun[];
  /** Set if nothing was observed: for the task, or in the whole ledger. */
  readonly blindness?: 'task' | 'ledger';
}

/** Undefined if the project requires nothing that is missing. Most projects require nothing. */
export async function findUnobserved(
  db: Reader,
  task: Task,
  { require_observed: required = [] }: ProjectOptions,
  hasWaitingEvents = false,
): Promise<Unobserved | undefined> {
  if (required.length === 0) return undefined;
  // One of them may be an edit.
  if (hasWaitingEvents) return { missing: required.map((command) => ({ command, reason: 'waiting' })) };
  const { work, missing } = await searchRuns(db, parseId(task.task_id), required);
  if (missing.length === 0) return undefined;
  if (!work.isEmpty) return { missing };
  const [first] = await db.query('SELECT 1 FROM observations LIMIT 1');
  return { missing, blindness: first === undefined ? 'ledger' : 'task' };
}

/** The newest observations usually decide; the write lock is held while they are read. */
const NEWEST = 250;
/** No run before an edit counts, but the refusal tells whether there was one. */
const FOR_THE_REASON = 1000;

async function searchRuns(
  db: Reader,
  taskNo: number,
  required: readonly string[],
  limit = NEWEST,
): Promise<{ readonly work: ObservedWork; readonly missing: MissingRun[] }> {
  const work = await readObservedWork(db, taskNo, limit);
  const runs = [...work.runs, ...revealRuns(work.hiddenRuns, new Set(required))];
  const missing = listMissing(required, { runs, edits: work.edits });
  const isDecided = work.edits.length > 0;
  const isOpen = missing.some(({ reason }) => reason === 'never' || (reason === 'unknown' && !isDecided));
  const next = isDecided ? FOR_THE_REASON : MAX_OBSERVATIONS;
  return isOpen && work.mayBeCut && limit < next ? searchRuns(db, taskNo, required, next) : { work, missing };
}

export function observationRequired({ task_id: taskId, project }: Task, unobserved: Unobserved): ColibriError {
  const { missing, blindness } = unobserved;
  return new ColibriError(
    'ERR_OBSERVATION_REQUIRED',
    `${taskId} cannot be done: ${describeMissing(unobserved)} (required by project ${project})`,
    { taskId, missing_runs: missing, recorder: blindness === 'ledger' ? 'silent' : 'seen' },
    { advice: adviceFor(missing, blindness) },
  );
}

/** Why the runs do not suffice, in one sentence. */
export function describeMissing({ missing, blindness }: Unobserved): string {
  const runs = missing.map(describeRun).join('; ');
  if (blindness === 'ledger') return `${runs}; the recorder has reported nothing to this ledger`;
  return blindness === 'task' ? `${runs}; no session that the recorder watches has held the task` : runs;
}

function describeRun({ command, reason, entry, exit_code }: MissingRun): string {
  const name = `"${command}"`;
  switch (reason) {
    case 'waiting':
      return `events that may be about ${name} wait in the spool and are not recorded yet`;
    case 'never':
      return `no run of ${name} was observed`;
    case 'edited':
      return `${name} was last observed before the last edit of a file (entry ${entry})`;
    case 'failed':
      return `the last run of ${name} ${exit_code === undefined ? 'failed' : `exited ${exit_code}`} (entry ${entry})`;
    case 'unknown':
      return `${name} was observed, but its exit code is not known (entry ${entry})`;
  }
}

function adviceFor(missing: readonly MissingRun[], blindness: Unobserved['blindness']): string {
  const commands = missing.map(({ command }) => command).join(' && ');
  if (blindness === 'ledger')
    return `ask a person to run colibri init --record, restart the client, claim the task and run ${commands}`;
  if (missing.some(({ reason }) => reason === 'waiting'))
    return 'repeat the call in a moment; if it still fails, ask a person to run colibri doctor';
  const how = missing.some(({ reason }) => reason === 'unknown') ? ' alone, without a pipe or ||,' : '';
  return `run ${commands}${how} in the session or sub-agent that works on the task, then repeat the call`;
}
