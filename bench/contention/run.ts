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

/**
 * Several servers on one store, each called back to back. Every number of servers is measured over the same number of
 * calls per server: a process compiles its code while it makes its first thousands of calls, and measured by the clock
 * one server alone would get much further than each of thirty-two.
 */
export async function measure(program: Program, script: Script, servers: number, calls: number): Promise<Measured> {
  const agents: StdioAgent[] = [];
  for (let agent = 0; agent < servers; agent += 1) agents.push(await StdioAgent.start(program, `agent-${agent}`));
  const lines = agents.map((agent, index) => ({ agent, script: script(index), answer: {} as Record<string, unknown> }));
  await runCalls(lines, WARM_UP_CALLS * servers);
  const cpuBefore = agents.map((agent) => agent.cpuMs());
  const begin = performance.now();
  const { counts, longestWaitMs } = await runCalls(lines, calls * servers);
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

/** Of each server. Most of the code of a call is compiled by then. */
const WARM_UP_CALLS = 1500;

interface Line {
  readonly agent: StdioAgent;
  readonly script: Generator<Call, never, Record<string, unknown>>;
  answer: Record<string, unknown>;
}

/** Makes so many calls together. A server that is slower than the others makes fewer of them. */
async function runCalls(lines: readonly Line[], total: number) {
  let [begun, longestWaitMs] = [0, 0];
  const counts = await Promise.all(
    lines.map(async (line) => {
      let calls = 0;
      for (; begun < total; calls += 1) {
        begun += 1;
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
