import { basename } from 'node:path';
import type { SpooledEvent } from '../spooled-event.ts';
import type { Stop } from './report-session.ts';

/** Set for an event after which the transcript of its client is worth a comparison. */
export function findStop({ phase, at, client, session, agent, transcript_path: path }: SpooledEvent): Stop | undefined {
  // The keys of calls contain the session as the client spells it.
  if (path === null || session.trim() === '') return undefined;
  const stop = { at, client, session, agent, transcriptPath: path };
  if (phase === 'stop' || phase === 'session_end') return { ...stop, agent: null };
  // If the event of a sub-agent names the transcript of the session, its tokens must not be counted twice.
  const isOwn = client === 'claude-code' && agent !== null && basename(path) === `agent-${agent}.jsonl`;
  return phase === 'subagent_stop' && isOwn ? stop : undefined;
}
