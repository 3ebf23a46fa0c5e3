import type { Client } from '@modelcontextprotocol/client';

export interface MemoryUse {
  readonly calls: number;
  readonly bytes: number;
}

const MARKS = [10_000, 100_000];

/** Resident memory of a server at each mark, as the server itself reports it. */
export async function measureMemory(client: Client, calls: readonly (() => Promise<unknown>)[]): Promise<MemoryUse[]> {
  const uses: MemoryUse[] = [];
  let done = 0;
  for (const mark of MARKS) {
    for (; done < mark; done += 1) await calls[done % calls.length]?.();
    uses.push({ calls: mark, bytes: await residentBytes(client) });
  }
  return uses;
}

async function residentBytes(client: Client): Promise<number> {
  const { structuredContent } = await client.callTool({ name: 'server_health', arguments: {} });
  const health = structuredContent as { data: { process: { memory_bytes: number } } };
  return health.data.process.memory_bytes;
}
