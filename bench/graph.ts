import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { formatTaskId } from '../src/ids.ts';
import { openDatabase } from '../src/trust/open-database.ts';
import { Cluster } from '../test/support/postgres/cluster.ts';
import { newSchema, runOn } from '../test/support/postgres/database.ts';
import { fillWithTasks } from './support/fill.ts';
import { measureInterleaved } from './support/measure.ts';
import { startClient } from './support/servers.ts';

/**
 * What calls cost beside a graph of tasks that another agent made: the same 21,000 tasks with no links among them, with
 * 240,000 and with 1,000,000. The calls alternate between the three servers.
 * Usage: node scripts/run-ts.mjs bench/graph.ts [--postgres]
 */
const WIDTHS = [0, 12, 50];
const FIRST = 1001;
const LAST = 21_000;
const PLAN = { warmUpCalls: 200, rounds: 20, callsPerRound: 10 };
/** For calls that may take long. */
const SHORT_PLAN = { warmUpCalls: 5, rounds: 5, callsPerRound: 3 };

interface Case {
  readonly name: string;
  readonly tool: string;
  /** Without a limit, the cost is only reported. */
  readonly bar?: number;
  readonly input: (round: number) => Record<string, unknown>;
}

const inGraph = (round: number) => formatTaskId(FIRST + 10_000 + (round % 1000));
const outside = (round: number) => formatTaskId(1 + (round % 1000));

const CASES: readonly Case[] = [
  { name: 'create', tool: 'task_create', bar: 1.5, input: () => ({ title: 'made' }) },
  {
    name: 'create with 30 dependencies in the graph',
    tool: 'task_create',
    bar: 1.5,
    input: (round) => ({ title: 'made', depends_on: Array.from({ length: 30 }, (_, index) => inGraph(round + index)) }),
  },
  {
    name: 'create with a parent outside and a dependency in the graph',
    tool: 'task_create',
    bar: 1.5,
    input: (round) => ({ title: 'made', parent_id: outside(round), depends_on: [inGraph(round)] }),
  },
  {
    name: 'update, a dependency in the graph',
    tool: 'task_update',
    bar: 1.5,
    input: (round) => ({ task_id: outside(round), depends_on: [inGraph(round)] }),
  },
  {
    name: 'get with children, in the graph',
    tool: 'task_get',
    bar: 1.5,
    input: (round) => ({ task_id: inGraph(round), include_dependents: true }),
  },
  {
    name: 'next_actions with blocked, outside',
    tool: 'task_next_actions',
    bar: 1.5,
    input: () => ({ project: 'focus', include_blocked: true }),
  },
  {
    name: 'list by project and status',
    tool: 'task_list',
    bar: 1.5,
    input: () => ({ project: 'graph', status: ['todo'] }),
  },
  { name: 'list by label', tool: 'task_list', bar: 1.5, input: () => ({ label: 'label-7', limit: 20 }) },
  {
    name: 'update of another field, in the graph',
    tool: 'task_update',
    bar: 1.5,
    input: (round) => ({ task_id: inGraph(round), progress: round % 100 }),
  },
  { name: 'next_actions, in the graph', tool: 'task_next_actions', input: () => ({ project: 'graph' }) },
  {
    name: 'update in the middle of the graph: refused at the limit',
    tool: 'task_update',
    input: (round) => ({ task_id: inGraph(round), depends_on: [formatTaskId(FIRST + 9000 + (round % 500))] }),
  },
];

const cluster = process.argv.includes('--postgres') ? await Cluster.create(['shared_buffers=128MB']) : undefined;
const folder = mkdtempSync(join(tmpdir(), 'colibri-graph-'));
const clients: Client[] = [];
for (const width of WIDTHS) clients.push(await startClient(await prepare(width)));

console.log('| call | 0 links, µs | 240,000 links, µs | 1,000,000 links, µs | ratio | bar |');
console.log('|---|---:|---:|---:|---:|---:|');
let isMissed = false;
for (const { name, tool, bar, input } of CASES) {
  const timings = await measureInterleaved(
    clients.map((client, index) => {
      let round = 0;
      return { name: String(index), call: () => client.callTool({ name: tool, arguments: input(round++) }) };
    }),
    bar === undefined ? SHORT_PLAN : PLAN,
  );
  const medians = [...timings.values()].map(({ p50Us }) => p50Us);
  const ratio = (medians.at(-1) ?? 0) / (medians[0] ?? 1);
  isMissed ||= bar !== undefined && ratio > bar;
  console.log(`| ${name} | ${medians.map((us) => us.toFixed(0)).join(' | ')} | ${ratio.toFixed(2)} | ${bar ?? ''} |`);
}
for (const client of clients) await client.close();
await cluster?.stop();
rmSync(folder, { recursive: true });
process.exitCode = isMissed ? 1 : 0;

async function prepare(width: number): Promise<Record<string, string>> {
  const url = cluster && (await newSchema(cluster.url(), `graph_${width}`));
  const place = url === undefined ? { dbPath: join(folder, `${width}.db`) } : { dbPath: undefined, databaseUrl: url };
  await fillWithTasks(place, LAST);
  const database = await openDatabase({ mode: 'FULL', durability: 'relaxed', readOnly: false, ...place });
  await database.write({ durable: false }, async (db) => {
    // Rows only: these calls do not read the log.
    await db.query("UPDATE tasks SET project = 'graph', status = 'todo', is_ready = 1 WHERE task_no >= $1", [FIRST]);
    await db.query("INSERT INTO counters (name, value) VALUES ('project/graph', $1)", [LAST]);
    await db.query(
      `WITH RECURSIVE back (steps) AS (SELECT 1 UNION ALL SELECT steps + 1 FROM back WHERE steps < 50)
       INSERT INTO task_dependencies (task_no, depends_on)
       SELECT task_no, task_no - steps FROM tasks CROSS JOIN back WHERE task_no - steps >= $1 AND steps <= $2`,
      [FIRST, width],
    );
  });
  await database.close();
  if (url !== undefined) await runOn(url, 'VACUUM ANALYZE');
  return url === undefined ? { COLIBRI_DB_PATH: join(folder, `${width}.db`) } : { COLIBRI_DATABASE_URL: url };
}
