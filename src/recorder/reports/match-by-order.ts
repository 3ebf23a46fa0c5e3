import type { Reader } from '../../db/database.ts';
import { type Entry, ERASED_SALT, parseEntry, saltedDigest } from '../../integrity/index.ts';
import { jsonText } from '../spooled-event.ts';
import type { TranscriptCall } from '../transcripts/transcript.ts';
import { type RecordedCall, type RecordedCalls, toRecorded } from './recorded-calls.ts';

/**
 * For clients whose hooks report no call ids. A call is recorded if the log has an event of its session with the same
 * tool and input that no earlier call of the transcript has taken.
 */
export async function findByOrder(
  reader: Reader,
  session: string,
  calls: readonly TranscriptCall[],
): Promise<RecordedCalls> {
  const events = calls.length === 0 ? [] : await listEvents(reader, session);
  const found = new Map<string, RecordedCall>();
  const rest: TranscriptCall[] = [];
  const [ends, begins] = [new Queue(events, ENDS), new Queue(events, ['before'])];
  for (const call of calls) {
    const end = ends.take(call);
    if (end === undefined) rest.push(call);
    // The beginning of a call whose end is recorded must not stand for another call with the same input.
    else {
      begins.take(call);
      found.set(call.id, toRecorded(end));
    }
  }
  for (const call of rest) {
    const begin = begins.take(call);
    if (begin !== undefined) found.set(call.id, toRecorded(begin));
  }
  return found;
}

/** How many calls of the session have ended, according to the log. */
export async function countEnded(reader: Reader, session: string): Promise<number> {
  const events = await listEvents(reader, session);
  return events.filter(({ entry }) => ENDS.includes(entry['phase'] as string)).length;
}

const ENDS: readonly string[] = ['after', 'failed'];

interface SessionEvent {
  readonly entry: Entry;
  readonly salt: string;
}

/** How many events with the tool of a call are compared with it. Parallel calls end in another order. */
const WINDOW = 100;

/** Events in log order. Each is taken once. */
class Queue {
  readonly #byTool = new Map<string, SessionEvent[]>();

  constructor(events: readonly SessionEvent[], phases: readonly string[]) {
    for (const event of events) {
      if (!phases.includes(event.entry['phase'] as string)) continue;
      const tool = event.entry['tool'] as string;
      this.#byTool.set(tool, [...(this.#byTool.get(tool) ?? []), event]);
    }
  }

  take({ tool, input }: TranscriptCall): Entry | undefined {
    const events = this.#byTool.get(tool) ?? [];
    const text = input === undefined ? undefined : jsonText(input);
    const near = events.slice(0, WINDOW);
    const same = near.findIndex(({ entry, salt }) => {
      if (text === undefined || entry['input'] === undefined) return text === entry['input'];
      return entry['input'] === saltedDigest('observed-input', salt, text);
    });
    // Redaction removed the salt, so that nothing tells the input of the event any longer.
    const place = same === -1 ? near.findIndex(({ salt }) => salt === ERASED_SALT) : same;
    return place === -1 ? undefined : events.splice(place, 1)[0]?.entry;
  }
}

const PAGE = 1000;
/** Sessions of these clients are short. The scan goes back from the last event of the session. */
const MAX_SCANNED = 50_000;

interface EventRow {
  readonly idx: number;
  readonly entry: string;
  readonly salt: string;
}

async function listEvents(reader: Reader, session: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  const [last] = await reader.query<{ last_idx: number }>('SELECT last_idx FROM observed_sessions WHERE session = $1', [
    session,
  ]);
  let below = (last?.last_idx ?? -1) + 1;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += PAGE) {
    const rows = await reader.query<EventRow>(
      `SELECT observations.idx AS idx, entry, observations.salt AS salt
       FROM observations JOIN ledger_entries ON ledger_entries.idx = observations.idx
       WHERE observations.idx < $1 ORDER BY observations.idx DESC LIMIT ${PAGE}`,
      [below],
    );
    for (const { entry: text, salt } of rows) {
      // Most entries are of other sessions: a search is cheaper than parsing them.
      const entry = text.includes(JSON.stringify(session)) ? parseEntry(text) : undefined;
      if (entry?.kind === 'observed' && entry['session'] === session && entry['tool'] !== undefined)
        events.push({ entry, salt });
    }
    if (rows.length < PAGE) break;
    below = rows.at(-1)?.idx ?? 0;
  }
  return events.reverse();
}
