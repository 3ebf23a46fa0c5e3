import { writeFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/client';
import { measureInterleaved, type Plan, type TimedCall, type Timing } from '../support/measure.ts';
import { Workplace } from '../support/servers.ts';
import { measureStarts } from './cold-start.ts';
import type { Replay } from './echo-server.ts';
import { measureFirstCalls } from './first-calls.ts';
import { type MemoryUse, measureMemory } from './memory.ts';
import { measureStorage, type StorageUse } from './storage.ts';
import { measureToolListing, type ToolListingSizes } from './tool-listing.ts';
import { type CaseName, SMALLEST, TASKS, type Workload } from './workloads.ts';

export interface Results {
  /** The tools behind "write" and "read". */
  readonly tools: string;
  readonly timings: ReadonlyMap<string, Timing>;
  readonly definitions: ToolListingSizes;
  readonly memory: readonly MemoryUse[];
  readonly storage: StorageUse;
}

export interface RunOptions extends Plan {
  readonly starts: number;
  readonly memory: boolean;
  readonly smallest: boolean;
}

export async function collectResults(options: RunOptions): Promise<Results> {
  const workplace = new Workplace();
  try {
    const colibri = await workplace.connect('colibri.cjs');
    const workload = options.smallest ? SMALLEST : TASKS;
    const { calls, ping, full } = await prepareCalls(workplace, colibri, workload);
    const timings = await measureInterleaved(calls, options);
    const starts = await measureStarts(workplace, options.starts);
    const firstCalls = await measureFirstCalls(workplace, options.starts / 2);
    // Writes and reads count only if they run in the server whose memory is measured.
    const mixed = workload.program === 'colibri.cjs' ? [ping, full.read, full.write] : [ping];
    return {
      tools: `${workload.write.name} and ${workload.read.name} of ${workload.program}`,
      timings: new Map<string, Timing>([...timings, ...starts, ...firstCalls]),
      definitions: await measureToolListing(colibri),
      memory: options.memory ? await measureMemory(colibri, mixed) : [],
      storage: await measureStorage(workplace),
    };
  } finally {
    await workplace.close();
  }
}

async function prepareCalls(workplace: Workplace, colibri: Client, workload: Workload) {
  const full = await startWorkload(workplace, workload, 'full');
  const relaxed = await startWorkload(workplace, workload, 'relaxed');
  const replay = workplace.path('replay.json');
  writeFileSync(replay, JSON.stringify(full.replay));
  const echo = await workplace.connect('bench/echo-server.js', { args: [replay] });
  const commit = await workplace.connect('bench/echo-server.js', { args: [replay, workplace.path('baseline.db')] });
  const ping = () => call(colibri, 'server_ping', {});
  const calls: TimedCall<CaseName>[] = [
    { name: 'echo', call: () => call(echo, workload.write.name, workload.write.arguments) },
    { name: 'echo and commit', call: () => call(commit, workload.write.name, workload.write.arguments) },
    { name: 'ping', call: ping },
    { name: 'read', call: full.read },
    { name: 'write, full', call: full.write },
    { name: 'write, relaxed', call: relaxed.write },
  ];
  return { calls, ping, full };
}

async function startWorkload(workplace: Workplace, { program, write, read }: Workload, durability: string) {
  const env = { COLIBRI_DURABILITY: durability, COLIBRI_DB_PATH: workplace.path(`${durability}.db`) };
  const client = await workplace.connect(program, { env });
  const structuredContent = await call(client, write.name, write.arguments);
  const definition = (await client.listTools()).tools.find(({ name }) => name === write.name);
  if (definition === undefined) throw new Error(`${program} does not list ${write.name}`);
  const key = (structuredContent['data'] as Record<string, unknown>)[read.key];
  return {
    replay: { definition, structuredContent } satisfies Replay,
    write: () => call(client, write.name, write.arguments),
    read: () => call(client, read.name, { [read.key]: key }),
  };
}

/** Throws on a failed call, which would otherwise count as a fast one. */
async function call(client: Client, name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { structuredContent, isError } = await client.callTool({ name, arguments: input });
  if (isError || typeof structuredContent !== 'object')
    throw new Error(`${name}: ${JSON.stringify(structuredContent)}`);
  return structuredContent as Record<string, unknown>;
}
