import type { Reader } from '../db/database.ts';
import { type Entry, type OpenCalls, parseEntry, saltedDigest } from '../integrity/index.ts';
import { createSalt } from '../ledger/salt.ts';
import type { Observation } from './record.ts';
import { callKey } from './spooled-event.ts';

/** The name of the event by which the recorder itself ends a call. */
const UNANSWERED = 'unanswered';

export function isStop({ phase }: Entry): boolean {
  return phase === 'stop' || phase === 'subagent_stop' || phase === 'session_end';
}

/**
 * The calls that a client began and did not end before a stop: some clients report a failure in no other way. An MCP
 * call has failed; of any other call nothing is known. A report that comes later is recorded too, and tells more.
 */
export async function listUnanswered(db: Reader, stop: Entry, open: OpenCalls): Promise<Observation[]> {
  const unanswered: Observation[] = [];
  for (const index of Object.values(open).sort((left, right) => left - right)) {
    const [row] = await db.query<{ entry: string; content: string }>(
      `SELECT entry, observations.content AS content FROM observations
       JOIN ledger_entries ON ledger_entries.idx = observations.idx WHERE observations.idx = $1`,
      [index],
    );
    const begun = parseEntry(row?.entry ?? '');
    // The turn of an agent says nothing about the calls of its sub-agents.
    const isCovered = begun !== undefined && (stop['phase'] === 'session_end' || begun['agent'] === stop['agent']);
    if (row !== undefined && isCovered) unanswered.push(toUnanswered(begun, row.content, stop));
  }
  return unanswered;
}

const KEPT = new Set(['client', 'client_version', 'session', 'agent', 'model', 'tool', 'action', 'call_id', 'task_id']);

function toUnanswered(begun: Entry, content: string, { at }: Entry): Observation {
  const salt = createSalt();
  const kept = Object.fromEntries(Object.entries(begun).filter(([name]) => KEPT.has(name)));
  const entry: Entry = {
    ...kept,
    v: 1,
    kind: 'observed',
    at,
    actor: begun.actor,
    event: UNANSWERED,
    phase: 'failed',
    outcome: begun['action'] === 'mcp' ? 'failed' : 'unknown',
    // Unlike that of a report of the client, which must not be lost if it comes later.
    key: callKey(begun['session'] as string, `${UNANSWERED} ${begun['call_id'] as string}`, 'failed'),
    content: saltedDigest('observed-content', salt, content),
  };
  return { entry, salt, content };
}
