import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import type { Database } from '../src/db/database.ts';
import { changedTask } from '../src/domains/tasks/change.ts';
import { findTokenedTask, updateTask } from '../src/domains/tasks/repository.ts';
import { formatTaskId } from '../src/ids.ts';
import { CallRecorder } from '../src/ledger/calls/recorder.ts';
import { openLedger } from '../src/ledger/open.ts';
import { openDatabase } from '../src/trust/open-database.ts';
import { fillFile, OPEN_TASKS } from './support/fill.ts';
import { median } from './support/measure.ts';
import { startClient } from './support/servers.ts';

/**
 * What the decision about a claim costs: one agent and a thousand, each holding a task, in ledgers of two sizes.
 * Usage: node scripts/run-ts.mjs bench/claims.ts [--sizes 1000,1000000] [--write]
 */

const sizes = (process.argv[process.argv.indexOf('--sizes') + 1]?.match(/^[\d,]+$/)?.[0] ?? '1000,1000000')
  .split(',')
  .map(Number);
const AGENTS = [1, OPEN_TASKS - 1];
const folder = join(tmpdir(), 'colibri-claims');
const AT = '2026-01-01T00:00:00.000Z';
const PROCESS = '00000000-0000-4000-8000-000000000001';
const WARM_UP_CALLS = 200;
const CALLS = 400;
const BAR = 1.5;

interface Case {
  readonly name: string;
  /** How long ago the agents gave their last sign of life, in minutes. */
  readonly silence: number;
  readonly tool: string;
  readonly input: object;
  readonly expected: string;
}

const HELD = { task_id: 'T-0001' };
const CASES: readonly Case[] = [
  {
    name: 'refused, live',
    silence: 0,
    tool: 'task_update',
    input: { ...HELD, progress: 1 },
    expected: 'ERR_CLAIM_HELD',
  },
  { name: 'queue, all live', silence: 0, tool: 'task_next_actions', input: { project: 'focus' }, expected: 'ok' },
  { name: 'corrected, lapsed', silence: 600, tool: 'task_update', input: { ...HELD, progress: 1 }, expected: 'ok' },
  { name: 'queue, all lapsed', silence: 600, tool: 'task_next_actions', input: { project: 'focus' }, expected: 'ok' },
];

const ledgers: { readonly name: string; readonly client: Client; readonly database: Database }[] = [];
for (const size of sizes)
  for (const agents of AGENTS) {
    const path = await prepare(size, agents);
    const database = await openFile(path);
    const name = `${size.toLocaleString('en')} tasks, ${agents.toLocaleString('en')} agents`;
    ledgers.push({ name, client: await startClient({ COLIBRI_DB_PATH: path }), database });
  }

const lines: string[] = [];
const print = (line: string) => {
  lines.push(line);
  console.log(line);
};
print(`| call | ${ledgers.map(({ name }) => `${name}, µs`).join(' | ')} |`);
print(`|---|${ledgers.map(() => '---:').join('|')}|`);
const flat: number[] = [];
for (const { name, silence, tool, input, expected } of CASES) {
  const medians: number[] = [];
  for (const { client, database } of ledgers) {
    await age(database, silence);
    const times: number[] = [];
    for (let call = 0; call < WARM_UP_CALLS + CALLS; call += 1) times.push(await timed(client, tool, input, expected));
    medians.push(median(times.slice(WARM_UP_CALLS)));
  }
  print(`| ${name} | ${medians.map((ms) => (ms * 1000).toFixed(0)).join(' | ')} |`);
  for (const place of AGENTS.keys())
    flat.push((medians[medians.length - AGENTS.length + place] ?? 0) / (medians[place] ?? 1));
}
const worst = Math.max(...flat);
print(`\nLargest ratio between the ledger sizes with the same agents: ${worst.toFixed(2)} (bar ${BAR})`);
for (const { client, database } of ledgers) {
  await client.close();
  await database.close();
}
if (process.argv.includes('--write')) writeFileSync('bench/results/claims.md', renderPage());
process.exitCode = worst > BAR ? 1 : 0;

function renderPage(): string {
  const machine = `${cpus().length} cores, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
  return `# The decision about a claim

From \`node scripts/run-ts.mjs bench/claims.ts --write\` (${machine}): medians of ${CALLS} calls through the official client
over stdio, after ${WARM_UP_CALLS} calls to warm up. Every agent holds one task of the project.

${lines.join('\n')}.

- **refused, live**: a change of a task that another agent holds (\`ERR_CLAIM_HELD\`). **corrected, lapsed**: the same change
  once the holder has been silent for too long.
- **queue, all live** and **queue, all lapsed**: \`task_next_actions\` while no agent and while every agent is silent. The
  queue reads the last sign of life of each agent, and which tasks the silent ones hold; its cost grows with the silent
  agents that hold tasks, not with the tasks. What it offers is read for one page only.
- A sign of life adds no page to a commit: the table of signs is the one of open calls, which every call writes anyway.
  Pages in the write-ahead log for the two commits of a call, without and with claims: ping 6.5 and 6.5, create 13.7 and
  13.4, update of a field 12.6 and 12.4. Taking a task and ending a claim write one page more, of the index of holders: 15 and
  16 pages.
`;
}

function openFile(dbPath: string): Promise<Database> {
  return openDatabase({ mode: 'FULL', durability: 'relaxed', readOnly: false, dbPath });
}

/** A ledger in which each agent has made a call and holds one task of project "focus". */
async function prepare(size: number, agents: number): Promise<string> {
  const path = join(folder, `${size}-${agents}.db`);
  mkdirSync(folder, { recursive: true });
  if (existsSync(path)) return path;
  const filled = join(folder, `${size}.db`);
  if (!existsSync(filled)) await fillFile(filled, size);
  copyFileSync(filled, path);
  const database = await openFile(path);
  await openLedger(database, 'bench', AT);
  const recorder = new CallRecorder(database, PROCESS);
  for (let number = 1; number <= agents; number += 1) {
    const call = { tool: 'task_update', actor: `agent-${number}`, at: AT, correlationId: String(number) };
    await recorder.enter({ ...call, args: {}, timestamp: 0, argumentsText: '{}' });
    await database.write({ durable: false }, async (db) => {
      const before = await findTokenedTask(db, formatTaskId(number));
      if (before === undefined) throw new Error(`task ${number} is missing`);
      const input = { task_id: before.task.task_id, status: 'in_progress' } as const;
      await updateTask(db, {
        before,
        after: changedTask(before.task, input, call.actor, AT),
        isClaim: true,
        unmet: before.unmet,
      });
    });
    await recorder.exit({ ...call, durationMs: 0, outcome: 'ok', answerText: '' });
  }
  await database.close();
  return path;
}

/** Moves the last calls of the agents this many minutes into the past. */
async function age(database: Database, minutes: number): Promise<void> {
  const { clock } = database;
  await database.write({ durable: false }, (db) =>
    db.query("UPDATE presence SET clock_id = $1, clock_ms = $2 WHERE actor LIKE 'agent-%'", [
      clock.id,
      (clock.nowMs() ?? 0) - minutes * 60_000,
    ]),
  );
}

async function timed(client: Client, name: string, input: object, expected: string): Promise<number> {
  const begin = performance.now();
  const result = await client.callTool({ name, arguments: { ...input } });
  const ms = performance.now() - begin;
  const answer = JSON.stringify(result.structuredContent);
  if (result.isError ? !answer.includes(expected) : expected !== 'ok') throw new Error(answer);
  return ms;
}
