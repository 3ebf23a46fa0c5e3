import type { Reader } from '../../db/database.ts';
import { listLastThoughts } from '../../domains/trail/repository.ts';
import { findSession } from '../../domains/trail/sessions.ts';
import { formatSessionId, formatThoughtId } from '../../ids.ts';
import { plural } from '../views/terminal.ts';
import { agentLink, listItems, section, taskLink, time } from './links.ts';
import { sessionPath } from './vault/file-names.ts';
import { excerpt, md, quote } from './vault/markdown.ts';
import type { Note } from './vault/note-file.ts';

const MAX_DECISIONS = 500;
const MAX_LENGTH = 200;

/** Undefined if there is no such session. */
export async function readSessionNote(db: Reader, sessionNo: number): Promise<Note | undefined> {
  const session = await findSession(db, formatSessionId(sessionNo));
  if (session === undefined) return undefined;
  const { task_no, scope, reason, started_at, started_by, finalized_at, root, leaf_count, record_count } = session;
  const { items: thoughts, total } = await listLastThoughts(db, 'session_no', sessionNo, MAX_DECISIONS);
  const id = formatSessionId(sessionNo);
  const state =
    finalized_at === null
      ? md`live, ${plural(record_count, 'record')} so far`
      : md`sealed ${time(finalized_at)} with ${plural(leaf_count ?? 0, 'record')}`;
  const earlier = total > thoughts.length ? [md`${plural(total - thoughts.length, 'earlier decision')}.`] : [];
  const decisions = thoughts.map(
    ({ thought_no, task_no: of, type, content, recorded_at, recorded_by }) =>
      md`${time(recorded_at)} ${taskLink(of)} ${formatThoughtId(thought_no)} ${type} by ${agentLink(recorded_by)}: ${excerpt(content, MAX_LENGTH)}`,
  );
  return {
    path: sessionPath(sessionNo),
    properties: {
      note: 'session',
      id,
      task: taskLink(task_no),
      scope,
      auditor: session.auditor_id,
      records: leaf_count ?? record_count,
      sealed: finalized_at,
      root,
      created: started_at,
      created_by: agentLink(started_by),
    },
    body: [
      md`# ${id}`,
      md`A ${scope} session of ${taskLink(task_no)}, opened ${time(started_at)} by ${agentLink(started_by)}; ${state}.`,
      ...(reason === null ? [] : [quote(reason)]),
      ...section('Decisions', decisions.length === 0 ? [] : [...earlier, listItems(decisions)]),
    ],
  };
}
