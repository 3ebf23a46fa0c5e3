import { execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openLedger } from '../src/ledger/open.ts';
import { createSalt } from '../src/ledger/salt.ts';
import { toEvent } from '../src/recorder/clients/recognize.ts';
import { toObservation } from '../src/recorder/ingest.ts';
import { type Observation, recordObservations } from '../src/recorder/record.ts';
import { listSpool } from '../src/recorder/spool.ts';
import { toSpooled } from '../src/recorder/spooled-event.ts';
import { openDatabase } from '../src/trust/open-database.ts';
import { measureInterleaved } from './support/measure.ts';
import { startClient } from './support/servers.ts';

/**
 * What the recorder costs: a hook against a bare Node process, 20 hooks at once, the size of an event, and the task
 * tools beside 100,000 events. Each --node names another Node to measure the hooks with. Usage: node scripts/run-ts.mjs
 * bench/recorder.ts [--events 100000] [--node PATH]... [--write]
 */

const EVENTS = Number(process.argv[process.argv.indexOf('--events') + 1]?.match(/^\d+$/)?.[0] ?? 100_000);
const PROGRAM = resolve('dist/colibri.cjs');
const AT = '2026-01-01T00:00:00.000Z';
const ROUNDS = 25;
const BATCH = 1000;
const NODES = [
  process.execPath,
  ...process.argv.flatMap((argument, index) => (argument === '--node' ? (process.argv[index + 1] ?? []) : [])),
].map((path) => ({ path, version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().slice(1) }));
const folder = mkdtempSync(join(tmpdir(), 'colibri-recorder-'));
let count = 0;

const lines = [
  `Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model.trim()}`,
  '',
  '| measured | result | bar |',
  '| --- | --- | --- |',
  ...(await measureHooks()),
  ...(await measureStorms()),
  ...(await measureLedger()),
];
rmSync(folder, { recursive: true });
process.stdout.write(`${lines.join('\n')}\n`);
if (process.argv.includes('--write'))
  writeFileSync(
    'bench/results/recorder.md',
    `# The recorder\n\nWritten by \`bench/recorder.ts --write\`.\n\n${lines.join('\n')}\n`,
  );

/** Measures the time from spawn to exit, in rotation with a process that does nothing. */
async function measureHooks(): Promise<string[]> {
  const variants = [];
  for (const node of NODES) {
    const project = makeProject(`hooks-${node.version}`);
    const at = { node: node.path, cwd: project };
    await run(['add', 'One'], '', at);
    variants.push(
      { name: `bare ${node.version}`, call: () => start(['-e', '0'], '', at) },
      { name: `spool ${node.version}`, call: () => run(['hook'], payload('PostToolUse'), at) },
      { name: `write ${node.version}`, call: () => run(['hook'], payload('Stop'), at) },
    );
  }
  const timings = await measureInterleaved(variants, { warmUpCalls: 2, rounds: ROUNDS, callsPerRound: 1 });
  const row = (kind: 'spool' | 'write', does: string, bar: number) =>
    NODES.map(({ version }) => {
      const [own, bare] = [timings.get(`${kind} ${version}`)?.p50Us ?? 0, timings.get(`bare ${version}`)?.p50Us ?? 1];
      const result = `${(own / bare).toFixed(2)} × (${(own / 1000).toFixed(0)} ms)`;
      return `| \`colibri hook\` that ${does}, over \`node -e 0\`, Node ${version} | ${result} | ${bar.toFixed(1)} |`;
    });
  return [...row('spool', 'spools', 1.5), ...row('write', 'writes to the ledger', 2.5)];
}

async function measureStorms(): Promise<string[]> {
  const rows: string[] = [];
  for (const { path, version } of NODES) {
    const project = makeProject(`storm-${version}`);
    const at = { node: path, cwd: project };
    const begin = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => run(['hook'], payload('PostToolUse'), at)));
    const took = performance.now() - begin;
    const kept = listSpool(join(project, '.colibri', 'spool')).length;
    rows.push(`| 20 hooks at once, Node ${version} | ${kept} events kept, ${took.toFixed(0)} ms | 20 |`);
  }
  return rows;
}

/** The same calls in two ledgers that differ in the events, in one run. */
async function measureLedger(): Promise<string[]> {
  const empty = await fill('empty', 0);
  const full = await fill('full', EVENTS);
  const clients = {
    empty: await startClient({ COLIBRI_DB_PATH: empty.path }),
    full: await startClient({ COLIBRI_DB_PATH: full.path }),
  };
  const calls = [
    ['task_create', { title: 'A task' }],
    ['task_get', { task_id: 'T-0001', include_trail: true }],
    ['task_next_actions', {}],
  ] as const;
  const rows: string[] = [];
  for (const [name, input] of calls) {
    const call = (client: typeof clients.empty) => () => client.callTool({ name, arguments: input });
    const timings = await measureInterleaved(
      [
        { name: 'empty', call: call(clients.empty) },
        { name: 'full', call: call(clients.full) },
      ],
      { warmUpCalls: 100, rounds: 20, callsPerRound: 20 },
    );
    const ratio = (timings.get('full')?.p50Us ?? 0) / (timings.get('empty')?.p50Us ?? 1);
    rows.push(
      `| \`${name}\` beside ${EVENTS.toLocaleString('en')} events, over a ledger without | ${ratio.toFixed(2)} × | 1.1 |`,
    );
  }
  for (const client of Object.values(clients)) await client.close();
  const bytes = (full.bytes - empty.bytes) / EVENTS;
  return [`| bytes per event with \`digests\` | ${bytes.toFixed(0)} | 900 |`, ...rows];
}

async function fill(name: string, events: number): Promise<{ path: string; bytes: number }> {
  const project = makeProject(name);
  const path = join(project, '.colibri', 'colibri.db');
  const database = await openDatabase({ dbPath: path, mode: 'FULL', durability: 'relaxed', readOnly: false });
  await openLedger(database, 'bench', AT);
  // Past the spool: a file for each event would take minutes.
  for (let done = 0; done < events; done += BATCH)
    await database.write({ durable: false }, (db) =>
      recordObservations(
        db,
        Array.from({ length: Math.min(BATCH, events - done) }, (_, place) => observe(done + place)),
      ),
    );
  await database.close();
  const bytes = readdirSync(join(project, '.colibri'))
    .filter((file) => file.startsWith('colibri.db'))
    .reduce((sum, file) => sum + statSync(join(project, '.colibri', file)).size, 0);
  return { path, bytes };
}

function observe(place: number): Observation {
  const at = new Date(Date.parse(AT) + place);
  const event = toEvent(JSON.parse(payload('PostToolUse')), {});
  const observation = toObservation(toSpooled(event, { at, salt: createSalt(), level: 'digests' }));
  if (observation === undefined) throw new Error('the event has no entry');
  return observation;
}

function makeProject(name: string): string {
  const project = join(folder, name);
  mkdirSync(join(project, '.git'), { recursive: true });
  mkdirSync(join(project, '.colibri'), { mode: 0o700 });
  return project;
}

function payload(event: string): string {
  count += 1;
  return JSON.stringify({
    session_id: '58d498e1-6a77-4ca6-bf2d-5f306607c271',
    hook_event_name: event,
    tool_name: 'Bash',
    tool_input: { command: 'npm test', description: 'Runs the tests' },
    tool_response: { stdout: 'fine\n'.repeat(20), stderr: '', interrupted: false },
    tool_use_id: `toolu_${String(count).padStart(24, '0')}`,
  });
}

interface Place {
  readonly node: string;
  readonly cwd: string;
}

function run(args: readonly string[], input: string, place: Place): Promise<void> {
  return start([PROGRAM, ...args], input, place);
}

function start(args: readonly string[], input: string, { node, cwd }: Place): Promise<void> {
  const options: SpawnOptions = { cwd, stdio: ['pipe', 'ignore', 'ignore'] };
  return new Promise((resolveExit, reject) => {
    const child = spawn(node, args, options);
    child.on('error', reject);
    child.on('exit', () => resolveExit());
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
