import { setTimeout as delay } from 'node:timers/promises';
import { fuzz, type TargetResult } from '../../test/fuzz/fuzz.ts';
import { runCommand } from '../command.ts';
import type { Outcome, Part, Round } from '../part.ts';
import { residentMemory } from '../resident-memory.ts';
import { ServerProcess } from '../server-process.ts';
import { createWorld, type World } from '../world.ts';
import { playCommandLines } from './command-lines.ts';
import { hostileCall, hostileLine, type ListedTool } from './messages.ts';

/** Bytes that no honest client sends, on standard input, in arguments and in the environment. */
export const BYTES: Part = {
  name: 'bytes',
  says: 'sends a server lines from the grammar of JSON-RPC that break its rules and calls with hostile values, runs commands with hostile arguments and environments, and gives mutated inputs to every parser: hook payloads, SKILL.md, configuration files, bundles, checkpoints and the others of `npm run fuzz`',
  leastRounds: 5,
  play,
};

const SIZES = {
  // npm test has a short run of npm run fuzz already.
  short: { lines: 2000, calls: 60, commands: 3, parsed: 0 },
  full: { lines: 60_000, calls: 3000, commands: 20, parsed: 150_000 },
} as const;

/** What is sent before the server must show that it is still there. */
const BATCH = 200;
/** Far above what a server of this size needs; a leak of a kilobyte per input would exceed it. */
const MAX_MEMORY_MB = 400;
/** The generator of the inputs and the program that plays the parts need half of it. */
const MAX_PARSER_MEMORY_MB = 800;

async function play(round: Round): Promise<Outcome> {
  const { random, size, log } = round;
  const world = await createWorld({ engine: 'sqlite', durability: 'relaxed', signs: false }, round);
  const server = new ServerProcess({ program: world.program, cwd: world.folder, env: world.env });
  const problems: string[] = [];
  let seen = '';
  /** False, and a problem, if the server has gone or does not answer. */
  const isAlive = async (): Promise<boolean> => {
    const answer = await Promise.race([server.request('ping'), timeout()]);
    if (answer !== undefined) return true;
    const state = server.hasEnded ? 'has ended' : 'does not answer';
    problems.push(`the server ${state} after ${seen}: ${server.errors.slice(-1000)}`);
    return false;
  };

  await server.initialize('bytes');
  const tools = ((await server.request('tools/list'))?.result?.tools ?? []) as ListedTool[];
  const { lines, calls, commands, parsed } = SIZES[size];
  let [sent, called] = [0, 0];
  for (; sent < lines && problems.length === 0; sent += 1) {
    const line = hostileLine(random);
    seen = JSON.stringify(line.toString('latin1').slice(0, 2000));
    server.send(line);
    if (sent % BATCH === BATCH - 1) await isAlive();
  }
  while (called < calls && problems.length === 0) {
    const pending: Promise<unknown>[] = [];
    for (let place = 0; place < BATCH && called < calls; place += 1, called += 1) {
      const id = `call-${called}`;
      seen = hostileCall(random, tools, id);
      pending.push(server.expect(id));
      server.send(seen);
    }
    const answers = await Promise.race([Promise.all(pending), timeout()]);
    if (answers === undefined || answers.includes(undefined)) await isAlive();
    if (answers === undefined) problems.push(`a call has no answer, at the latest: ${seen.slice(0, 2000)}`);
  }
  const { peakMb } = residentMemory(server.child.pid);
  if (peakMb > MAX_MEMORY_MB) problems.push(`the server took ${peakMb} MB`);
  problems.push(...(await leave(server, world)));
  log(`bytes: ${sent} lines, ${called} calls, ${Math.round(peakMb)} MB`);
  problems.push(...(await playCommandLines(random, world, commands)));
  const fuzzed = parsed === 0 ? undefined : await fuzzParsers(round.seed, parsed);
  problems.push(...(fuzzed?.problems ?? []));
  const counts = { 'hostile lines': sent, 'hostile calls': called, 'hostile command lines': commands };
  return {
    counts: { ...counts, ...fuzzed?.counts },
    highest: { 'memory of the server, MB': Math.round(peakMb), ...fuzzed?.highest },
    problems,
  };
}

/** Every parser on its own, which takes far more inputs in the same time than a process does. */
async function fuzzParsers(seed: number, runs: number): Promise<Outcome> {
  const results = await fuzz({ seed, runs });
  const { nowMb } = residentMemory(process.pid);
  const problems = results.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]));
  if (nowMb > MAX_PARSER_MEMORY_MB) problems.push(`the parsers left ${nowMb} MB in memory`);
  const sum = (count: (result: TargetResult) => number) => results.reduce((total, result) => total + count(result), 0);
  return {
    counts: {
      'mutated inputs of parsers': sum(({ inputs }) => inputs),
      'of these, accepted as valid': sum(({ accepted }) => accepted),
    },
    highest: { parsers: results.length, 'memory with all parsers, MB': Math.round(nowMb) },
    problems,
  };
}

/** Resolves after a minute; the slowest input takes milliseconds. */
function timeout(): Promise<undefined> {
  return delay(60_000, undefined, { ref: false });
}

/** After all of it the server is healthy, has printed nothing but messages, and leaves a ledger that verifies. */
async function leave(server: ServerProcess, world: World): Promise<string[]> {
  const problems = server.strayLines
    .slice(0, 5)
    .map((line) => `standard output has a line that is not a message: ${line}`);
  const health = await server.call('server_health', {});
  if (health?.data['status'] !== 'ok') problems.push(`the server is not healthy: ${JSON.stringify(health)}`);
  server.closeInput();
  const { code, signal } = await server.exit;
  if (code !== 0) problems.push(`the server ended with ${signal ?? code}: ${server.errors}`);
  const verified = await runCommand(world, ['verify']);
  if (verified.code !== 0) problems.push(`the ledger does not verify: ${verified.stdout}${verified.stderr}`);
  return problems;
}
