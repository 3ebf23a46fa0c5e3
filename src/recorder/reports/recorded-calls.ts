import type { Reader } from '../../db/database.ts';
import { attachmentOf, type Entry, parseEntry } from '../../integrity/index.ts';
import { callKey } from '../spooled-event.ts';
import type { TranscriptCall } from '../transcripts/transcript.ts';

/** What the log tells about a call of a transcript. */
export interface RecordedCall {
  /** The task that the call belongs to, and the one that its session or sub-agent held after it. */
  readonly taskId: string | null;
  readonly heldTask: string | null;
}

/** Keyed by the id of the call. Calls that are not in the log are not in the map. */
export type RecordedCalls = ReadonlyMap<string, RecordedCall>;

/** The phase that tells most comes first. A client may report a failed call only before it begins. */
const PHASES = ['after', 'failed', 'before'] as const;
const BATCH = 200;

/** Looks the calls up by their ids, which their keys are made of. */
export async function findById(
  reader: Reader,
  session: string,
  calls: readonly TranscriptCall[],
): Promise<RecordedCalls> {
  const found = new Map<string, RecordedCall>();
  for (let begin = 0; begin < calls.length; begin += BATCH) {
    const batch = calls.slice(begin, begin + BATCH).map(({ id }) => ({
      id,
      keys: PHASES.map((phase) => callKey(session, id, phase)),
    }));
    const entries = await findEntries(
      reader,
      batch.flatMap(({ keys }) => keys),
    );
    for (const { id, keys } of batch) {
      const entry = keys.map((key) => entries.get(key)).find((candidate) => candidate !== undefined);
      if (entry !== undefined) found.set(id, toRecorded(entry));
    }
  }
  return found;
}

export function toRecorded(entry: Entry): RecordedCall {
  const { task_id: taskId } = entry;
  return { taskId: typeof taskId === 'string' ? taskId : null, heldTask: attachmentOf(entry).task ?? null };
}

async function findEntries(reader: Reader, keys: readonly string[]): Promise<Map<string, Entry>> {
  const places = keys.map((_, place) => `$${place + 1}`).join(', ');
  const rows = await reader.query<{ key: string; entry: string }>(
    `SELECT key, entry FROM observations JOIN ledger_entries ON ledger_entries.idx = observations.idx
     WHERE key IN (${places})`,
    keys,
  );
  const entries = new Map<string, Entry>();
  for (const { key, entry: text } of rows) {
    const entry = parseEntry(text);
    if (entry !== undefined) entries.set(key, entry);
  }
  return entries;
}
