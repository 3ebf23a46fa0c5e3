import { mkdtempSync } from 'node:fs';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { readConfig } from '../src/config.ts';
import { runCall } from '../src/middleware/chain.ts';
import { runSecondPhase } from '../src/second-phase.ts';
import { createServer } from '../src/server.ts';
import { createSurface } from '../src/surface.ts';
import { times } from './patch.ts';

const dir = mkdtempSync('/tmp/cb-');
const config = { ...readConfig({}), dbPath: dir + '/c.db', durability: (process.argv[2] ?? 'relaxed') as 'relaxed' };
const [a] = InMemoryTransport.createLinkedPair();
const server = createServer({
  mode: 'FULL',
  version: '1',
  transport: a,
  logger: () => {},
  secondPhase: ({ chain }) => runSecondPhase(config, chain.log, () => {}),
});
const { runtime } = server.chain;
for (const t of createSurface(
  {
    pulse: () => ({ version: '1', mode: 'FULL', uptimeMs: 1 }),
    facts: () => ({}) as never,
    database: () => runtime.database,
    skills: () => undefined,
  },
  { project: 'p', workflow: 'board' },
))
  server.registerColibriTool(t);
await server.start();
await runtime.admit(false);
const tools = new Map(server.listTools().map((t) => [t.name, t]));
async function bench(name: string, input: (i: number) => unknown, gap: boolean) {
  const ts: number[] = [];
  for (let i = 0; i < 4000; i++) {
    const t = performance.now();
    const r = await runCall(server.chain, {
      name,
      tool: tools.get(name),
      rawInput: input(i),
      actor: 'x',
      progress: () => undefined,
    });
    ts.push(performance.now() - t);
    if (r.isError) throw new Error(r.text);
    if (gap) await new Promise((r) => setTimeout(r, 0));
  }
  ts.splice(0, 500);
  ts.sort((x, y) => x - y);
  console.log(
    name.padEnd(20),
    gap ? 'gap' : 'tight',
    'p50',
    (ts[ts.length >> 1]! * 1000).toFixed(0),
    'p90',
    (ts[(ts.length * 0.9) | 0]! * 1000).toFixed(0),
  );
}
await bench('task_create', (i) => ({ title: 'hello world ' + i, project: 'x' }), false);
await bench('task_create', (i) => ({ title: 'hello world ' + i, project: 'x' }), false);
const sum = 0;
for (const [k, v] of [...times].map(([k, v]) => [k, v.slice(-3000)] as const)) {
  v.sort((a, b) => a - b);
  const p = v[v.length >> 1]! * 1000;
  if (v.length > 2000) {
    console.log(p.toFixed(1).padStart(7), v.length, k.replace(/\s+/g, ' ').slice(0, 110));
  }
}
process.exit(0);
