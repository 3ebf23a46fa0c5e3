import type { Reader } from '../db/database.ts';
import { type Entry, parseEntry } from '../integrity/index.ts';

/** Codex runs the hooks of the user beside those of the project, the others those of Claude Code beside their own. */
const CLIENTS_WITH_TWO_HOOKS: ReadonlySet<unknown> = new Set(['codex', 'vscode', 'cursor', 'copilot-cli']);
const PHASES: ReadonlySet<unknown> = new Set(['session_start', 'stop', 'subagent_stop', 'session_end']);
const MAX_DISTANCE_MS = 2000;

/**
 * Returns true if a report repeats the last one of its session. A stop has no call id, and two hooks that report one
 * stop may read the clock at different times, so that their keys differ.
 */
export async function isDuplicatePhase(db: Reader, entry: Entry): Promise<boolean> {
  if (!CLIENTS_WITH_TWO_HOOKS.has(entry['client']) || !PHASES.has(entry['phase']) || entry['call_id'] !== undefined)
    return false;
  const [row] = await db.query<{ entry: string }>(
    'SELECT entry FROM ledger_entries WHERE idx = (SELECT last_idx FROM observed_sessions WHERE session = $1)',
    [entry['session'] as string],
  );
  const last = parseEntry(row?.entry ?? '');
  if (last === undefined || last['phase'] !== entry['phase'] || last['agent'] !== entry['agent']) return false;
  return Math.abs(Date.parse(last.at) - Date.parse(entry.at)) < MAX_DISTANCE_MS;
}
