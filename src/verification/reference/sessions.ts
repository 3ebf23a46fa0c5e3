import type { Reader } from '../../db/database.ts';
import { buildSessionTree } from '../../domains/trail/session-tree.ts';
import { listHeads, type SessionRow, sessionContent } from '../../domains/trail/sessions.ts';
import { formatSessionId, formatTaskId, storedId } from '../../ids.ts';
import { canonicalize, type Entry, entryDefect, sessionDefect, storedDigest } from '../../integrity/index.ts';
import { erasureDefect, type LoggedRedaction } from '../redactions/finder.ts';

/** A difference between the log and a session's row, its records or its seal. */
export interface SessionProblem {
  readonly problem: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

export interface SessionStart {
  readonly index: number;
  readonly entry: Entry | undefined;
  readonly redaction: LoggedRedaction | undefined;
}

/** Compares the row of a session with the entry that started it. */
export function checkStart(session: SessionRow, { index, entry, redaction }: SessionStart): SessionProblem[] {
  return [
    ...(redaction === undefined ? defects('its text', sessionDefect(session)) : checkErasure(session, redaction)),
    ...defects('the entry that started it', entry && entryDefect(entry)),
    ...differences('differs from the entry that started it', [
      ['session.started', entry?.kind],
      [session.start_idx, index],
      [formatSessionId(session.session_no), entry?.['session_id']],
      [storedId(formatTaskId, session.task_no), entry?.['task_id']],
      [session.scope, entry?.['scope']],
      [session.started_at, entry?.at],
      [session.started_by, entry?.actor],
      ...(redaction === undefined ? [[digestOf(session), entry?.['session']] as const] : []),
    ]),
  ];
}

/** Compares the seal with its entry, the sealed records with the root, and the chains with the heads of the seal. */
export async function checkSeal(
  reader: Reader,
  session: SessionRow,
  index: number,
  entry: Entry | undefined,
): Promise<SessionProblem[]> {
  const sealedTask = session.sealed_task_no === null ? undefined : storedId(formatTaskId, session.sealed_task_no);
  const { root, leafCount } = await buildSessionTree(reader, session.session_no, session.sealed_task_no);
  return [
    ...defects('the entry that sealed it', entry && entryDefect(entry)),
    ...differences('differs from the entry that sealed it', [
      ['session.finalized', entry?.kind],
      [session.finalized_idx, index],
      [formatSessionId(session.session_no), entry?.['session_id']],
      [session.finalized_at, entry?.at],
      [session.root, entry?.['root']],
      [session.leaf_count, entry?.['leaf_count']],
      [sealedTask, entry?.['task_id']],
    ]),
    ...differences('its records do not give its root', [
      [session.root, root],
      [session.leaf_count, leafCount],
    ]),
    ...differences('the chains of its tasks no longer reach where they stood at the seal', [
      [jsonOf(await listHeads(reader, session.session_no)), entry && jsonOf(entry['heads'] ?? null)],
    ]),
  ];
}

function checkErasure(session: SessionRow, redaction: LoggedRedaction): SessionProblem[] {
  const problem = erasureDefect('session.started', redaction, { salt: session.salt, content: textOf(session) });
  return problem === undefined ? [] : [{ problem, expected: redaction.note, actual: 'other content' }];
}

function defects(part: string, defect: string | undefined): SessionProblem[] {
  if (defect === undefined) return [];
  return [{ problem: `${part} breaks the grammar: it ${defect}`, expected: undefined, actual: defect }];
}

/** A forged row may contain bytes, which are not JSON. */
function jsonOf(value: unknown): string {
  try {
    return canonicalize(value);
  } catch {
    return 'unreadable';
  }
}

/** Only the first difference: the others are usually its consequences. */
function differences(problem: string, pairs: readonly (readonly [unknown, unknown])[]): SessionProblem[] {
  const first = pairs.find(([stored, logged]) => stored !== logged);
  return first === undefined ? [] : [{ problem, expected: first[1], actual: first[0] }];
}

function digestOf(session: SessionRow): string {
  return storedDigest('session', session.salt, textOf(session)) ?? 'unreadable';
}

/** The private content; undefined if a forged row has none. */
function textOf(session: SessionRow): string | undefined {
  const { auditor_id, reason } = session;
  const isText = typeof auditor_id === 'string' && (reason === null || typeof reason === 'string');
  return isText ? sessionContent(session) : undefined;
}
