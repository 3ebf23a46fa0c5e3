import type { Liveness, Reader } from '../../db/database.ts';
import { parseEntry } from '../../integrity/index.ts';
import { clockSql } from './clock-sql.ts';
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
    `SELECT sequence_no, clock_id, clock_ms, now_ms FROM (SELECT ${clockSql(db.engine, '$1')} AS now_ms) AS clock
     LEFT JOIN presence ON actor = $2 ORDER BY sequence_no DESC`,
    [clock.nowMs(), actor],
  );
  const nowMs = db.engine === 'postgres' ? (rows[0]?.now_ms ?? 0) : Date.parse(at);
  const calls = rows.flatMap(({ sequence_no }) => sequence_no ?? []);
  const silences = rows.flatMap((row) => knownSilence(row, clock.id) ?? []);
  if (silences.length > 0) return { silentMs: Math.min(...silences), nowMs, calls };
  const times = (await readEntries(db, calls)).map((entry) => Date.parse(parseEntry(entry)?.at ?? ''));
  const last = Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
  return { silentMs: Math.max(0, nowMs - last), nowMs, calls };
}

/** Another clock says nothing, nor does a time in the future: the machine was restarted. */
export function knownSilence(
  { clock_id, clock_ms, now_ms }: Pick<SignRow, 'clock_id' | 'clock_ms' | 'now_ms'>,
  clockId: string,
): number | undefined {
  return clock_id !== clockId || clock_ms === null || clock_ms > now_ms ? undefined : now_ms - clock_ms;
}

/** Whether a process that made one of these calls is alive. */
export async function hasLiveProcess(db: Reader, liveness: Liveness, calls: readonly number[]): Promise<boolean> {
  for (const entry of await readEntries(db, calls)) if (await liveness.isAlive(processOf(entry))) return true;
  return false;
}

async function readEntries(db: Reader, indexes: readonly number[]): Promise<string[]> {
  const entries: string[] = [];
  for (const index of indexes) {
    const rows = await db.query<{ entry: string }>('SELECT entry FROM ledger_entries WHERE idx = $1', [index]);
    entries.push(...rows.map(({ entry }) => entry));
  }
  return entries;
}
