import { type Call, type Program, StdioAgent } from '../support/stdio-agent.ts';

/** One agent's endless list of calls; each gets the previous answer. */
export type Script = (agent: number) => Generator<Call, never, Record<string, unknown>>;

export interface Measured {
  readonly perSecond: number;
  readonly cpuMsPerCall: number;
  readonly longestWaitMs: number;
  /** The slowest server's share of the mean. */
  readonly slowest: number;
}

/** Several servers on one store, each called back to back for the same time. */
export async function measure(program: Program, script: Script, servers: number, seconds: number): Promise<Measured> {
  const agents: StdioAgent[] = [];
  for (let agent = 0; agent < servers; agent += 1) agents.push(await StdioAgent.start(program, `agent-${agent}`));
  const lines = agents.map((agent, index) => ({ agent, script: script(index), answer: {} as Record<string, unknown> }));
  await runUntil(lines, (calls) => calls >= WARM_UP_CALLS);
  const cpuBefore = agents.map((agent) => agent.cpuMs());
  const begin = performance.now();
  const { counts, longestWaitMs } = await runUntil(lines, () => performance.now() - begin > seconds * 1000);
  const elapsed = (performance.now() - begin) / 1000;
  const cpuMs = agents.reduce((sum, agent, index) => sum + agent.cpuMs() - (cpuBefore[index] ?? 0), 0);
  await Promise.all(agents.map((agent) => agent.end()));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return {
    perSecond: total / elapsed,
    cpuMsPerCall: cpuMs / total,
    longestWaitMs,
    slowest: Math.min(...counts) / (total / servers),
  };
}

/**
 * A process that is not warm spends most of a call on code that is not compiled yet. Twelve servers together make as many
 * calls as one alone, so after too few of them the comparison would be one of compiled with uncompiled code.
 */
const WARM_UP_CALLS = 1000;

interface Line {
  readonly agent: StdioAgent;
  readonly script: Generator<Call, never, Record<string, unknown>>;
  answer: Record<string, unknown>;
}

async function runUntil(lines: readonly Line[], isOver: (calls: number) => boolean) {
  let longestWaitMs = 0;
  const counts = await Promise.all(
    lines.map(async (line) => {
      let calls = 0;
      for (; !isOver(calls); calls += 1) {
        const next = line.script.next(line.answer).value;
        const start = performance.now();
        line.answer = await line.agent.call(next);
        longestWaitMs = Math.max(longestWaitMs, performance.now() - start);
      }
      return calls;
    }),
  );
  return { counts, longestWaitMs };
}
