import type { Liveness, Reader } from '../../db/database.ts';
import { parseEntry } from '../../integrity/index.ts';
import { clockSql } from './clock-sql.ts';
import { knownSilence } from './signs.ts';
import { processOf } from './stale-rows.ts';

/** An agent as its signs of life show it. */
export interface SeenAgent {
  readonly name: string;
  /** How many of its processes run. */
  readonly processes: number;
  readonly lastCall: { readonly sequence_no: number; readonly tool: string; readonly at: string };
  /** Since its last call began, by a clock that the agents share where there is one. */
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

/** Every agent that made a call, the one that called last first. `nowMs` is the wall clock of this machine. */
export async function listAgents(db: Reader, liveness: Liveness, nowMs: number): Promise<SeenAgent[]> {
  const rows = await db.query<SignRow>(
    `SELECT presence.sequence_no, presence.actor, clock_id, clock_ms, now_ms, entry
     FROM presence JOIN ledger_entries ON ledger_entries.idx = presence.sequence_no
     CROSS JOIN (SELECT ${clockSql(db.engine, '$1')} AS now_ms) AS clock
     ORDER BY presence.sequence_no DESC`,
    [liveness.clock.nowMs()],
  );
  const agents = new Map<string, SeenAgent & { readonly live: Set<string> }>();
  for (const row of rows) {
    const agent = agents.get(row.actor) ?? { ...seenIn(row, liveness.clock.id, nowMs), live: new Set() };
    agents.set(row.actor, agent);
    const processId = processOf(row.entry);
    if (!agent.live.has(processId) && (await liveness.isAlive(processId))) agent.live.add(processId);
  }
  return [...agents.values()].map(({ live, ...agent }) => ({ ...agent, processes: live.size }));
}

/** How many agents have a process that runs. */
export async function countLiveAgents(db: Reader, liveness: Liveness): Promise<number> {
  // The time decides about silence alone, which does not matter here.
  return (await listAgents(db, liveness, 0)).filter(({ processes }) => processes > 0).length;
}

function seenIn(row: SignRow, clockId: string, nowMs: number): SeenAgent {
  const { sequence_no, actor, entry: text } = row;
  const entry = parseEntry(text);
  const at = entry?.at ?? '';
  const tool = entry?.['tool'];
  const elapsed = knownSilence(row, clockId) ?? nowMs - Date.parse(at);
  return {
    name: actor,
    processes: 0,
    lastCall: { sequence_no, tool: typeof tool === 'string' ? tool : '', at },
    silentMs: Math.max(0, Number.isNaN(elapsed) ? 0 : elapsed),
  };
}
