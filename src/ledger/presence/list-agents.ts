import type { Liveness, Reader } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { isPerson, parseEntry } from '../../integrity/index.ts';
import { sharedSilence, wallSilence } from './signs.ts';
import { processOf } from './stale-rows.ts';

/** An agent as its signs of life show it. */
export interface SeenAgent {
  readonly name: string;
  /** How many of its processes run. */
  readonly processes: number;
  readonly lastCall: { readonly sequence_no: number; readonly tool: string; readonly at: string };
  /** Since its last call began, by the same rule that decides about claims. */
  readonly silentMs: number;
}

interface SignRow {
  readonly sequence_no: number;
  readonly actor: string;
  readonly clock_id: string | null;
  readonly clock_ms: number | null;
  readonly now_ms: number;
  readonly entry: string;
}

/** Every agent with a sign of life, the one that called last first. `localMs` is the wall clock of this machine. */
export async function listAgents(db: Reader, liveness: Liveness, localMs: number): Promise<SeenAgent[]> {
  const rows = await db.query<SignRow>(
    `SELECT presence.sequence_no, presence.actor, clock_id, clock_ms, now_ms, entry
     FROM presence JOIN ledger_entries ON ledger_entries.idx = presence.sequence_no
     CROSS JOIN (SELECT ${dialectOf(db).clock('$1')} AS now_ms) AS clock
     ORDER BY presence.sequence_no DESC`,
    [liveness.clock.nowMs()],
  );
  const nowMs = dialectOf(db).wallClock(rows[0]?.now_ms, localMs);
  const signsOf = new Map<string, SignRow[]>();
  for (const row of rows) signsOf.set(row.actor, [...(signsOf.get(row.actor) ?? []), row]);
  // Asked together: on PostgreSQL each question about a process is a round trip.
  return Promise.all(
    [...signsOf].map(async ([name, signs]) => {
      const entries = signs.map(({ entry }) => entry);
      return {
        name,
        processes: await countLive(entries, liveness),
        lastCall: lastCallOf(signs[0] as SignRow),
        silentMs: sharedSilence(signs, liveness.clock.id) ?? wallSilence(entries, nowMs),
      };
    }),
  );
}

/** How many agents have a process that runs. */
export async function countLiveAgents(db: Reader, liveness: Liveness): Promise<number> {
  // The time decides about silence alone, which does not matter here.
  return (await listAgents(db, liveness, 0)).filter(({ name, processes }) => processes > 0 && !isPerson(name)).length;
}

async function countLive(entries: readonly string[], liveness: Liveness): Promise<number> {
  const processes = [...new Set(entries.map(processOf))];
  const alive = await Promise.all(processes.map((processId) => liveness.isAlive(processId)));
  return alive.filter((isAlive) => isAlive).length;
}

function lastCallOf({ sequence_no, entry: text }: SignRow): SeenAgent['lastCall'] {
  const entry = parseEntry(text);
  const tool = entry?.['tool'];
  return { sequence_no, tool: typeof tool === 'string' ? tool : '', at: entry?.at ?? '' };
}
