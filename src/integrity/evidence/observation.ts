import type { Salt } from '../entry.ts';
import { parseJson } from '../parse-json.ts';
import type { ObservedRun } from './compare.ts';

/** What an entry of the recorder says about a run, an edit or a commit. Pure. */

/** A command whose text only a digest covers, as with COLIBRI_RECORD=digests. */
export interface HiddenRun extends Omit<ObservedRun, 'command'> {
  readonly salt: Salt;
  /** The digest of the input of the tool. */
  readonly input: string;
}

/** The fields of `observed` and `observed.commit` entries that the comparison reads. */
export interface ObservedFields {
  readonly at: string;
  readonly kind: string;
  readonly session?: string;
  readonly agent?: string;
  readonly call_id?: string;
  readonly action?: string;
  readonly phase?: string;
  readonly outcome?: string;
  readonly exit_code?: number;
  readonly duration_ms?: number;
  readonly task_id?: string;
  readonly session_task?: string;
  readonly agent_task?: string;
  readonly input?: string;
  readonly sha?: string;
  readonly parents?: readonly string[];
  readonly rewrites?: string;
}

export interface Observation {
  readonly entry: number;
  readonly fields: ObservedFields;
  readonly salt: Salt;
  /** Undefined if it is not stored, or only a part of it. */
  readonly command: string | undefined;
}

/** From this length on, a command of a cut content may be cut itself. */
const CUT_LENGTH = 2048;

/** The command in the content of an observation. Throws for a content that is not JSON. */
export function readCommand(content: string): string | undefined {
  const { command, cut } = parseJson(content) as { readonly command?: unknown; readonly cut?: unknown };
  if (typeof command !== 'string') return undefined;
  return cut === true && command.length >= CUT_LENGTH ? undefined : command;
}

/** A command that was only announced is not a run. */
export function isRun(fields: ObservedFields): boolean {
  return fields.action === 'shell' && isEnd(fields) && !isUnanswered(fields);
}

export function isEnd({ phase }: ObservedFields): boolean {
  return phase === 'after' || phase === 'failed';
}

/** No client reports it so: the recorder itself ended the call, because its agent stopped. */
export function isUnanswered({ phase, outcome }: ObservedFields): boolean {
  return phase === 'failed' && outcome === 'unknown';
}

export function listRuns(observed: readonly Observation[]): ObservedRun[] {
  return observed.flatMap(({ entry, fields, command }) =>
    command === undefined || !isRun(fields) ? [] : [{ ...exitOf(entry, fields), command }],
  );
}

export function listHiddenRuns(observed: readonly Observation[]): HiddenRun[] {
  return observed.flatMap(({ entry, fields, salt, command }) =>
    command !== undefined || !isRun(fields) || typeof fields.input !== 'string'
      ? []
      : [{ ...exitOf(entry, fields), salt, input: fields.input }],
  );
}

function exitOf(entry: number, { at, exit_code, outcome, duration_ms }: ObservedFields): Omit<ObservedRun, 'command'> {
  const known = outcome === 'ok' || outcome === 'failed' ? outcome : 'unknown';
  // A forged duration can reach beyond the times that a Date holds.
  const begunAt = new Date(Math.max(0, Date.parse(at) - (duration_ms ?? 0))).toISOString();
  return { entry, at, begunAt, exitCode: exit_code ?? null, outcome: known };
}
