import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { Cluster } from '../test/support/postgres/cluster.ts';
import { runOn } from '../test/support/postgres/database.ts';
import { fillFile, fillWithTasks, OPEN_TASKS } from './support/fill.ts';
import { median } from './support/measure.ts';
import { startClient } from './support/servers.ts';

/**
 * What a call costs in a ledger of a thousand, a hundred thousand and a million tasks: the calls alternate between
 * three servers, so that noise affects all alike.
 * Usage: node scripts/run-ts.mjs bench/scale.ts [--sizes 1000,100000] [--postgres]
 */

const sizes = (process.argv[process.argv.indexOf('--sizes') + 1]?.match(/^[\d,]+$/)?.[0] ?? '1000,100000,1000000')
  .split(',')
  .map(Number);
const folder = join(tmpdir(), 'colibri-scale');
/** Without warm-up, compilation dominates a call and hides the effect of the size. */
const WARM_UP_CALLS = 500;
const ROUNDS = 40;
const CALLS_IN_A_ROW = 20;

interface Case {
  readonly name: string;
  readonly tool: string;
  readonly bar: number;
  readonly input: (round: number) => Record<string, unknown>;
}

/** Reads the same tasks at every size: the first thousand are common to all. */
const CASES: readonly Case[] = [
  {
    name: 'create',
    tool: 'task_create',
    bar: 1.5,
    input: (round) => ({ title: `made in round ${round}`, project: 'made' }),
  },
  { name: 'get', tool: 'task_get', bar: 1.5, input: (round) => ({ task_id: id(1 + (round % OPEN_TASKS)) }) },
  {
    name: 'update',
    tool: 'task_update',
    bar: 1.5,
    input: (round) => ({ task_id: id(1 + (round % OPEN_TASKS)), progress: round % 100 }),
  },
  { name: 'next_actions', tool: 'task_next_actions', bar: 1.5, input: () => ({ project: 'focus' }) },
  { name: 'list, first page', tool: 'task_list', bar: 1.5, input: () => ({}) },
  {
    name: 'list, first page of a project',
    tool: 'task_list',
    bar: 1.5,
    input: () => ({ project: 'focus', status: ['todo'] }),
  },
  { name: 'list, page at 10,000', tool: 'task_list', bar: 10, input: () => ({ offset: 10_000 }) },
  { name: 'search', tool: 'task_list', bar: 10, input: () => ({ search: 'needle haystack' }) },
];

const cluster = process.argv.includes('--postgres') ? await Cluster.create(['shared_buffers=128MB']) : undefined;
const clients: Client[] = [];
for (const size of sizes) clients.push(await startClient(await prepare(size)));

console.log(`| call | ${sizes.map((size) => `${size.toLocaleString('en')} tasks, µs`).join(' | ')} | ratio | bar |`);
console.log(`|---|${sizes.map(() => '---:').join('|')}|---:|---:|`);
let isMissed = false;
for (const { name, tool, bar, input } of CASES) {
  const times = sizes.map((): number[] => []);
  for (let number = 0; number < WARM_UP_CALLS; number += 1)
    for (const client of clients) await timed(client, tool, input(number));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, client] of clients.entries()) {
      for (let call = 0; call < CALLS_IN_A_ROW; call += 1)
        times[index]?.push(await timed(client, tool, input(round * CALLS_IN_A_ROW + call)));
    }
  }
  const medians = times.map(median);
  const ratio = (medians.at(-1) ?? 0) / (medians[0] ?? 1);
  isMissed ||= ratio > bar;
  console.log(
    `| ${name} | ${medians.map((ms) => (ms * 1000).toFixed(0)).join(' | ')} | ${ratio.toFixed(2)} | ${bar} |`,
  );
}
for (const client of clients) await client.close();
await cluster?.stop();
process.exitCode = isMissed ? 1 : 0;

async function prepare(size: number): Promise<Record<string, string>> {
  return cluster === undefined ? prepareFile(size) : prepareSchema(cluster, size);
}

async function prepareSchema(server: Cluster, size: number): Promise<Record<string, string>> {
  const url = new URL(server.url());
  url.searchParams.set('options', `-c search_path=scale_${size}`);
  await runOn(server.url(), `CREATE SCHEMA scale_${size}`);
  await fillWithTasks({ dbPath: undefined, databaseUrl: url.href }, size, (done) => {
    if (done % 100_000 === 0) console.error(`${done} of ${size} tasks`);
  });
  await runOn(url.href, 'VACUUM ANALYZE');
  return { COLIBRI_DATABASE_URL: url.href };
}

async function prepareFile(size: number): Promise<Record<string, string>> {
  const path = join(folder, `${size}.db`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(path)) {
    const begin = performance.now();
    await fillFile(path, size);
    console.error(`made ${size} tasks in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  }
  return { COLIBRI_DB_PATH: path };
}

async function timed(client: Client, name: string, input: Record<string, unknown>): Promise<number> {
  const begin = performance.now();
  const result = await client.callTool({ name, arguments: input });
  const ms = performance.now() - begin;
  if (result.isError) throw new Error(JSON.stringify(result));
  return ms;
}

function id(number: number): string {
  return `T-${String(number).padStart(4, '0')}`;
}
