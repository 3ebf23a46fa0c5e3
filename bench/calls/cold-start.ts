import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { summarize, type Timing } from '../support/measure.ts';
import type { Workplace } from '../support/servers.ts';

const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '0' } },
})}\n`;

const PROGRAMS = { 'bare loop': 'bench/bare-loop.js', 'cold start': 'colibri.cjs' } as const;
type Start = keyof typeof PROGRAMS;

/**
 * Measures the time from spawn to the answered handshake, alternating; raw pipes, because a client's own startup would
 * dilute the ratio.
 */
export async function measureStarts(workplace: Workplace, rounds: number): Promise<Map<Start, Timing>> {
  const samples = { 'bare loop': [], 'cold start': [] } satisfies Record<Start, number[]> as Record<Start, number[]>;
  const names = Object.keys(PROGRAMS) as Start[];
  for (let round = -1; round < rounds; round += 1) {
    for (const name of names) {
      const startUs = await timeStart(workplace, PROGRAMS[name]);
      // The first start of each program fills the file cache, and the code cache of newer versions of Node.
      if (round >= 0) samples[name].push(startUs);
    }
  }
  return new Map(names.map((name) => [name, summarize(samples[name])]));
}

async function timeStart(workplace: Workplace, program: string): Promise<number> {
  const { command, args, env } = workplace.command(program);
  const start = performance.now();
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(INITIALIZE);
  await once(child.stdout, 'data');
  const tookUs = (performance.now() - start) * 1000;
  child.stdin.end();
  await once(child, 'exit');
  return tookUs;
}
