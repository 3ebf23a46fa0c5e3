import type { Client } from '@modelcontextprotocol/client';
import { summarize, type Timing } from '../support/measure.ts';
import type { Workplace } from '../support/servers.ts';

type Part = 'first 50 calls' | 'later calls';

const FIRST = 50;
const WARM_UP = 500;

/** Creates of servers that have just started, which is what most agents make, and of the same servers later. */
export async function measureFirstCalls(workplace: Workplace, servers: number): Promise<Map<Part, Timing>> {
  const first: number[] = [];
  const later: number[] = [];
  for (let server = 0; server < servers; server += 1) {
    const env = { COLIBRI_DB_PATH: workplace.path(`first-${server}.db`), COLIBRI_DURABILITY: 'relaxed' };
    const client = await workplace.connect('colibri.cjs', { env });
    for (let call = 0; call < FIRST; call += 1) first.push(await timeCreate(client));
    for (let call = 0; call < WARM_UP; call += 1) await timeCreate(client);
    for (let call = 0; call < FIRST; call += 1) later.push(await timeCreate(client));
    await client.close();
  }
  return new Map([
    ['first 50 calls', summarize(first)],
    ['later calls', summarize(later)],
  ]);
}

async function timeCreate(client: Client): Promise<number> {
  const start = performance.now();
  const input = { title: 'Measure what one call costs', project: 'bench' };
  const { isError } = await client.callTool({ name: 'task_create', arguments: input });
  if (isError) throw new Error('task_create failed');
  return (performance.now() - start) * 1000;
}
