import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fillWithTasks } from '../../bench/support/fill.ts';
import { median } from '../../bench/support/measure.ts';
import type { Transaction } from '../../src/db/database.ts';
import { machineClock } from '../../src/db/sqlite/machine-clock.ts';
import { enterCall, toEnter } from '../../src/ledger/calls/enter.ts';
import { exitCall, toExit } from '../../src/ledger/calls/exit.ts';
import { createSalt } from '../../src/ledger/salt.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { enterEvent, exitEvent, processIdOf } from '../../test/support/ledger.ts';
import { runCommand } from '../command.ts';
import type { Outcome, Part, Round } from '../part.ts';
import { residentMemory } from '../resident-memory.ts';
import { ServerProcess } from '../server-process.ts';
import { createWorld, type World } from '../world.ts';

/** A ledger that grew for years. */
export const SCALE: Part = {
  name: 'scale',
  says: 'fills a ledger with ten million entries, compares the latency of its calls with that of a small ledger, and verifies it',
  minMinutes: 60,
  play,
};

const ENTRIES = 10_000_000;
const TASKS = 100_000;
const SMALL = 10_000;
const BATCH = 5000;
/** The same as in bench/scale.ts. */
const MAX_RATIO = 1.5;
const CALLS = 800;
const WARM_UP_CALLS = 500;

async function play(round: Round): Promise<Outcome> {
  const large = await prepare(round, 'large', ENTRIES);
  const small = await prepare(round, 'small', SMALL);
  const { ratios, memoryMb } = await compare(large, small);
  const begin = performance.now();
  const verified = await runCommand(large, ['verify', '--json']);
  const seconds = (performance.now() - begin) / 1000;
  const problems = verified.code === 0 ? [] : [`the ledger does not verify: ${verified.stdout}${verified.stderr}`];
  for (const [tool, ratio] of Object.entries(ratios))
    if (ratio > MAX_RATIO) problems.push(`${tool} takes ${ratio.toFixed(2)} times as long as in a small ledger`);
  return {
    counts: { 'entries verified': (JSON.parse(verified.stdout || '{}') as { size?: number }).size ?? 0 },
    highest: {
      'seconds to verify': Math.round(seconds),
      'memory of the server, MB': Math.round(memoryMb),
      ...Object.fromEntries(
        Object.entries(ratios).map(([tool, ratio]) => [
          `${tool}, p50, times that in a ledger of ${SMALL} entries`,
          ratio,
        ]),
      ),
    },
    problems,
  };
}

/** Tasks first, then calls, by the code that serves them, many in a transaction. */
async function prepare(round: Round, name: string, entries: number): Promise<World> {
  const folder = resolve(round.folder, name);
  mkdirSync(folder);
  const world = await createWorld({ engine: 'sqlite', durability: 'relaxed', signs: false }, { ...round, folder });
  const tasks = Math.min(TASKS, entries / 5);
  await fillWithTasks(world.ledger, tasks);
  const database = await openDatabase({ mode: 'FULL', durability: 'relaxed', readOnly: false, ...world.ledger });
  let last: number | null = null;
  for (let filled = tasks; filled < entries; filled += 2 * BATCH) {
    await database.write({ durable: false }, async (transaction) => {
      for (let count = 0; count < BATCH; count += 1) last = await recordCall(transaction, filled + 2 * count, last);
    });
    if (filled % 1_000_000 < 2 * BATCH) round.log(`scale: ${filled.toLocaleString('en')} entries`);
  }
  await database.close();
  return world;
}

/** A call with its two entries. Its row of `presence` is that of the call before it, as in a server. */
async function recordCall(transaction: Transaction, number: number, last: number | null): Promise<number> {
  const [id, salt] = [`call ${number}`, createSalt()];
  const sign = { clockId: machineClock.id, clockMs: machineClock.nowMs(), replaces: last };
  const enter = toEnter(enterEvent(id, `{"note":"${id}","task_id":"T-0001"}`), PROCESS_ID, salt, sign);
  const sequenceNo = await enterCall(transaction, enter);
  await exitCall(transaction, { enter, sequenceNo }, toExit(exitEvent(id), salt, sequenceNo), sequenceNo);
  return sequenceNo;
}

const PROCESS_ID = processIdOf('scale');

const CASES: Readonly<Record<string, (round: number) => Record<string, unknown>>> = {
  task_create: (round) => ({ title: `made in round ${round}`, project: 'made' }),
  task_get: (round) => ({ task_id: `T-${String(1 + (round % 1000)).padStart(4, '0')}` }),
  task_update: (round) => ({ task_id: `T-${String(1 + (round % 1000)).padStart(4, '0')}`, progress: round % 100 }),
  task_next_actions: () => ({ project: 'focus' }),
  task_list: () => ({ project: 'focus', status: ['todo'] }),
};

/** The calls alternate between the two servers, so that noise affects both alike. */
async function compare(large: World, small: World) {
  const servers = await Promise.all([large, small].map(start));
  const ratios: Record<string, number> = {};
  for (const [tool, inputOf] of Object.entries(CASES)) {
    const times = servers.map((): number[] => []);
    for (let round = 0; round < WARM_UP_CALLS; round += 1)
      for (const server of servers) await server.call(tool, inputOf(round));
    for (let round = 0; round < CALLS; round += 1) {
      for (const [index, server] of servers.entries()) {
        const begin = performance.now();
        const reply = await server.call(tool, inputOf(round));
        times[index]?.push(performance.now() - begin);
        if (reply?.outcome !== 'ok') throw new Error(`${tool} answered ${reply?.outcome ?? 'nothing'}`);
      }
    }
    const [ofLarge = 0, ofSmall = 1] = times.map(median);
    ratios[tool] = ofLarge / ofSmall;
  }
  const memoryMb = residentMemory(servers[0]?.child.pid).peakMb;
  for (const server of servers) server.closeInput();
  await Promise.all(servers.map(({ exit }) => exit));
  return { ratios, memoryMb };
}

async function start({ program, folder: cwd, env }: World): Promise<ServerProcess> {
  const server = new ServerProcess({ program, cwd, env });
  if (!(await server.initialize('scale'))) throw new Error(`the server did not start: ${server.errors}`);
  return server;
}
