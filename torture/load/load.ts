import { setTimeout as delay } from 'node:timers/promises';
import { allTools } from '../../bench/contention/scripts.ts';
import { runCommand } from '../command.ts';
import type { Outcome, Part, Round } from '../part.ts';
import { residentMemory } from '../resident-memory.ts';
import { ServerProcess } from '../server-process.ts';
import { createWorld, type World } from '../world.ts';
import { type Window, Windows } from './windows.ts';

/** One server that never rests, and a client that never reads. */
export const LOAD: Part = {
  name: 'load',
  says: 'calls one server back to back with all tools for as long as the run lasts, and sends it calls by the hundred thousand without reading the answers',
  play,
};

const SIZES = {
  short: { calls: 300, pipelined: 600 },
  full: { calls: Number.POSITIVE_INFINITY, pipelined: 100_000 },
} as const;

/** What a call costs the processor at the end, compared with the beginning. Ten percent each are compared. */
const MAX_RATIO = 1.5;
/** Garbage that is not collected yet, and pages that the system has not taken back. */
const MAX_GROWTH_MB = 100;
const MAX_MEMORY_MB = 400;

async function play(round: Round): Promise<Outcome> {
  const { calls, pipelined } = SIZES[round.size];
  const world = await createWorld({ engine: 'sqlite', durability: 'full', signs: true }, round);
  const server = await start(world);
  // The rest of the time is for reading what was not read, and for verification.
  const deadlineMs = performance.now() + round.timeMs * 0.7;
  const steady = await callBackToBack(
    server,
    (made) => made >= calls || (round.size === 'full' && performance.now() > deadlineMs),
  );
  const problems = round.size === 'short' ? [] : judgeWindows(steady.first, steady.last);
  const unread = await pipeline(server, pipelined);
  problems.push(...unread.problems);
  server.closeInput();
  const { code } = await server.exit;
  if (code !== 0) problems.push(`the server ended with exit code ${code}: ${server.errors}`);
  const verified = await runCommand(world, ['verify', '--json']);
  if (verified.code !== 0) problems.push(`the ledger does not verify: ${verified.stdout}${verified.stderr}`);
  return {
    counts: {
      'calls back to back': steady.calls,
      'seconds at full speed': Math.round(steady.seconds),
      'calls sent without reading': pipelined,
      'answers read afterwards': unread.answers,
      'entries verified': (JSON.parse(verified.stdout || '{}') as { size?: number }).size ?? 0,
    },
    highest: {
      ...describeWindows(steady.first, steady.last),
      'memory with unread answers, MB': Math.round(unread.peakMb),
    },
    problems,
  };
}

async function start({ program, folder: cwd, env }: World): Promise<ServerProcess> {
  const server = new ServerProcess({ program, cwd, env });
  if (!(await server.initialize('load'))) throw new Error(`the server did not start: ${server.errors}`);
  return server;
}

async function callBackToBack(server: ServerProcess, isOver: (calls: number) => boolean) {
  const script = allTools(0);
  const windows = new Windows(server.child.pid);
  const begin = performance.now();
  let [calls, data] = [0, {} as Record<string, unknown>];
  for (; !isOver(calls); calls += 1) {
    const [tool, input] = script.next(data).value;
    const start = performance.now();
    const reply = await server.call(tool, input);
    windows.add(performance.now() - start);
    if (reply?.outcome !== 'ok') throw new Error(`${tool} answered ${reply?.outcome ?? 'nothing'}: ${server.errors}`);
    data = { ...reply.data };
  }
  return { calls, seconds: (performance.now() - begin) / 1000, ...windows.ends() };
}

function judgeWindows(first: Window, last: Window): string[] {
  const ratio = last.cpuMsPerCall / first.cpuMsPerCall;
  return [
    ...(ratio > MAX_RATIO ? [`a call costs ${ratio.toFixed(2)} times the processor time that it cost at first`] : []),
    ...(last.memoryMb - first.memoryMb > MAX_GROWTH_MB || last.memoryMb > MAX_MEMORY_MB
      ? [`the memory of the server grew from ${first.memoryMb} to ${last.memoryMb} MB`]
      : []),
  ];
}

function describeWindows(first: Window, last: Window): Record<string, number> {
  return {
    'latency p50 at first, ms': first.p50Ms,
    'latency p50 at the end, ms': last.p50Ms,
    'latency p99 at first, ms': first.p99Ms,
    'latency p99 at the end, ms': last.p99Ms,
    'processor time per call at first, ms': first.cpuMsPerCall,
    'processor time per call at the end, ms': last.cpuMsPerCall,
    'memory at first, MB': Math.round(first.memoryMb),
    'memory at the end, MB': Math.round(last.memoryMb),
  };
}

/** The server stops reading when answers pile up: what it has not read waits with the client, not in its memory. */
async function pipeline(server: ServerProcess, count: number) {
  server.pauseOutput();
  const answers: Promise<unknown>[] = [];
  for (let number = 0; number < count; number += 1) {
    const id = `unread-${number}`;
    answers.push(server.expect(id));
    const params = { name: 'task_create', arguments: { title: id, project: 'unread' } };
    server.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
  }
  await hasSettled(server);
  const problems: string[] = [];
  const { nowMb } = residentMemory(server.child.pid);
  server.resumeOutput();
  const read = await Promise.all(answers);
  const { peakMb } = residentMemory(server.child.pid);
  if (peakMb > MAX_MEMORY_MB) problems.push(`the server took ${peakMb} MB while its answers were not read`);
  const missing = read.filter((answer) => answer === undefined).length;
  if (missing > 0) problems.push(`${missing} of ${count} calls that were sent without reading have no answer`);
  return { answers: count - missing, peakMb: Math.max(nowMb, peakMb), problems };
}

/** Resolves when the server has stopped working, because the client does not read. */
async function hasSettled(server: ServerProcess): Promise<void> {
  for (let before = -1; ; ) {
    await delay(300);
    const written = server.child.stdin?.writableLength ?? 0;
    if (written === before) return;
    before = written;
  }
}
