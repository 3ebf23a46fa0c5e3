import type { Liveness, Reader } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { ranInSameFolder } from '../../db/process-id.ts';
import { parseEntry } from '../../integrity/index.ts';
import { haveSameClient } from './agent-name.ts';
import { processOf } from './stale-rows.ts';

/** When an actor last gave a sign of life, by the clock that the processes of the ledger share. */
export interface LastSign {
  readonly silentMs: number;
  /** The time of the question, in milliseconds since 1970. */
  readonly nowMs: number;
  /** The last calls of the actor's processes, newest first. */
  readonly calls: readonly number[];
}

interface SignRow {
  readonly sequence_no: number | null;
  readonly clock_id: string | null;
  readonly clock_ms: number | null;
  readonly now_ms: number;
}

/** `at` is the wall clock of this machine; it counts where the shared clock says nothing. */
export async function readLastSign(db: Reader, { clock }: Liveness, actor: string, at: string): Promise<LastSign> {
  const rows = await db.query<SignRow>(
    `SELECT sequence_no, clock_id, clock_ms, now_ms FROM (SELECT ${dialectOf(db).clock('$1')} AS now_ms) AS clock
     LEFT JOIN presence ON actor = $2 ORDER BY sequence_no DESC`,
    [clock.nowMs(), actor],
  );
  const nowMs = dialectOf(db).wallClock(rows[0]?.now_ms, Date.parse(at));
  const calls = rows.flatMap(({ sequence_no }) => sequence_no ?? []);
  const silentMs = sharedSilence(rows, clock.id) ?? wallSilence(await readEntries(db, calls), nowMs);
  return { silentMs, nowMs, calls };
}

/** The shortest silence of an actor's processes by the shared clock; undefined if it says nothing. */
export function sharedSilence(
  signs: readonly Pick<SignRow, 'clock_id' | 'clock_ms' | 'now_ms'>[],
  clockId: string,
): number | undefined {
  const silences = signs.flatMap(({ clock_id, clock_ms, now_ms }) =>
    // Another clock says nothing, nor does a time in the future: the machine was restarted.
    clock_id !== clockId || clock_ms === null || clock_ms > now_ms ? [] : now_ms - clock_ms,
  );
  return silences.length === 0 ? undefined : Math.min(...silences);
}

/** The silence since the newest of these enter entries, by the times that they state. */
export function wallSilence(entries: readonly string[], nowMs: number): number {
  const times = entries.map((entry) => Date.parse(parseEntry(entry)?.at ?? ''));
  return Math.max(0, nowMs - Math.max(0, ...times.filter((time) => !Number.isNaN(time))));
}

/** Whether a process that made one of these calls is alive. */
export async function hasLiveProcess(db: Reader, liveness: Liveness, calls: readonly number[]): Promise<boolean> {
  for (const entry of await readEntries(db, calls)) if (await liveness.isAlive(processOf(entry))) return true;
  return false;
}

/** A process that may have been started in place of another one. */
export interface Successor {
  readonly actor: string;
  /** The index of its first call; undefined if it did not choose its name among live agents. */
  readonly firstCall: number | undefined;
}

/**
 * Whether a process can continue another actor: of the same client in the same folder, without a live process, and
 * silent since before the first call. An agent that already worked beside that actor was not started in its place.
 */
export async function canContinue(
  db: Reader,
  liveness: Liveness,
  { actor, firstCall }: Successor,
  former: string,
): Promise<boolean> {
  if (firstCall === undefined || !haveSameClient(actor, former)) return false;
  const [own] = await listCallers(db, actor);
  const earlier = await listCallers(db, former);
  if (own === undefined || earlier[0] === undefined || earlier[0].sequence_no > firstCall) return false;
  if (!ranInSameFolder(own.processId, earlier[0].processId)) return false;
  for (const { processId } of earlier) if (await liveness.isAlive(processId)) return false;
  return true;
}

/** The processes of an actor, the one that called last first. */
export async function listProcesses(db: Reader, actor: string): Promise<string[]> {
  return (await listCallers(db, actor)).map(({ processId }) => processId);
}

/** The processes of an actor with their last calls, newest first. */
async function listCallers(db: Reader, actor: string): Promise<{ sequence_no: number; processId: string }[]> {
  const rows = await db.query<{ sequence_no: number; entry: string }>(
    `SELECT presence.sequence_no, entry FROM presence JOIN ledger_entries ON ledger_entries.idx = presence.sequence_no
     WHERE presence.actor = $1 ORDER BY presence.sequence_no DESC`,
    [actor],
  );
  return rows.map(({ sequence_no, entry }) => ({ sequence_no, processId: processOf(entry) }));
}

async function readEntries(db: Reader, indexes: readonly number[]): Promise<string[]> {
  const entries: string[] = [];
  for (const index of indexes) {
    const rows = await db.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [index]);
    entries.push(...rows.map(({ entry }) => entry));
  }
  return entries;
}
