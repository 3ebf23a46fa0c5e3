import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import type { Transaction } from '../src/db/database.ts';
import { formatTaskId } from '../src/ids.ts';
import { openDatabase } from '../src/trust/open-database.ts';
import { storeUnmetLinks } from '../test/support/forge/unmet-links.ts';
import { Cluster } from '../test/support/postgres/cluster.ts';
import { newSchema, runOn } from '../test/support/postgres/database.ts';
import { fillWithTasks } from './support/fill.ts';
import { measureInterleaved } from './support/measure.ts';
import { startClient } from './support/servers.ts';

/**
 * What calls cost beside a graph of tasks that another agent made: the same 21,000 tasks with no links among them, with
 * 240,000 and with 1,000,000. The calls alternate between the three servers. Then what it costs to close a task, by how
 * many others wait for it.
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
  { name: 'next_actions, in the graph', tool: 'task_next_actions', bar: 1.5, input: () => ({ project: 'graph' }) },
  {
    name: 'next_actions with blocked, in the graph',
    tool: 'task_next_actions',
    input: () => ({ project: 'graph', include_blocked: true }),
  },
  {
    name: 'update in the middle of the graph: refused at the limit',
    tool: 'task_update',
    input: (round) => ({ task_id: inGraph(round), depends_on: [formatTaskId(FIRST + 9000 + (round % 500))] }),
  },
];

/** How many tasks wait for each of the tasks that are closed. */
const WAITING = [0, 1, 10, 100, 1000, 18_000];
/** The tasks of each group wait for as many others, and are released with the last one. */
const AWAITED = 6;

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
await measureClosing();
await cluster?.stop();
rmSync(folder, { recursive: true });
process.exitCode = isMissed ? 1 : 0;

function prepare(width: number): Promise<Record<string, string>> {
  return prepareRows(`graph_${width}`, async (db) => {
    await db.query("UPDATE tasks SET project = 'graph', status = 'todo', is_ready = 1 WHERE task_no >= $1", [FIRST]);
    await db.query("INSERT INTO counters (name, value) VALUES ('project/graph', $1)", [LAST]);
    await db.query(
      `WITH RECURSIVE back (steps) AS (SELECT 1 UNION ALL SELECT steps + 1 FROM back WHERE steps < 50)
       INSERT INTO task_dependencies (task_no, depends_on)
       SELECT task_no, task_no - steps FROM tasks CROSS JOIN back WHERE task_no - steps >= $1 AND steps <= $2`,
      [FIRST, width],
    );
  });
}

async function measureClosing(): Promise<void> {
  const client = await startClient(
    await prepareRows('closing', async (db) => {
      await db.query("UPDATE tasks SET status = 'todo', is_ready = 1");
      let first = FIRST;
      for (const [group, waiting] of WAITING.entries()) {
        await db.query(
          `INSERT INTO task_dependencies (task_no, depends_on)
           SELECT waiting.task_no, awaited.task_no FROM tasks AS waiting CROSS JOIN tasks AS awaited
           WHERE waiting.task_no >= $1 AND waiting.task_no < $2 AND awaited.task_no >= $3 AND awaited.task_no < $4`,
          [first, first + waiting, 1 + group * AWAITED, 1 + (group + 1) * AWAITED],
        );
        first += waiting;
      }
    }),
  );
  // The first calls of a server are slower.
  for (let task = 900; task < 1000; task += 1) await close(client, task);
  console.log('\n| tasks that wait for the closed one | they wait for others too, µs | they are released, µs |');
  console.log('|---:|---:|---:|');
  for (const [group, waiting] of WAITING.entries()) {
    const times: number[] = [];
    for (let place = 0; place < AWAITED; place += 1) times.push(await close(client, 1 + group * AWAITED + place));
    const released = times.pop() ?? 0;
    const median = times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
    console.log(`| ${waiting} | ${median.toFixed(0)} | ${released.toFixed(0)} |`);
  }
  await client.close();
}

async function close(client: Client, taskNo: number): Promise<number> {
  const before = performance.now();
  await client.callTool({ name: 'task_update', arguments: { task_id: formatTaskId(taskNo), status: 'cancelled' } });
  return (performance.now() - before) * 1000;
}

/** A ledger whose tables of tasks and links are changed. Rows only: these calls do not read the log. */
async function prepareRows(name: string, change: (db: Transaction) => Promise<void>): Promise<Record<string, string>> {
  const url = cluster && (await newSchema(cluster.url(), name));
  const place = url === undefined ? { dbPath: join(folder, `${name}.db`) } : { dbPath: undefined, databaseUrl: url };
  await fillWithTasks(place, LAST);
  const database = await openDatabase({ mode: 'FULL', durability: 'relaxed', readOnly: false, ...place });
  await database.write({ durable: false }, async (db) => {
    await change(db);
    await storeUnmetLinks(db);
  });
  await database.close();
  if (url !== undefined) await runOn(url, 'VACUUM ANALYZE');
  return url === undefined ? { COLIBRI_DB_PATH: join(folder, `${name}.db`) } : { COLIBRI_DATABASE_URL: url };
}
