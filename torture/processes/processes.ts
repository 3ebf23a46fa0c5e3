import { openDatabase } from '../../src/trust/open-database.ts';
import { runCommand } from '../command.ts';
import type { Outcome, Part, Round } from '../part.ts';
import { ServerProcess } from '../server-process.ts';
import { createWorld, type World } from '../world.ts';
import { playAgent } from './agent-lane.ts';
import { playCommands } from './command-lane.ts';
import { Journal } from './journal.ts';
import { judge } from './referee.ts';
import { hasLongStop, renderScript, type Script, writeScript } from './script.ts';
import { judgeWaits, watchLateness } from './waits.ts';

/** Servers, hooks and commands on one ledger, and everything that can happen to a process. */
export const PROCESSES: Part = {
  name: 'processes',
  says: 'runs up to 32 servers, hooks and commands on one ledger, in SQLite or PostgreSQL, while they are killed, stopped, cut off and have their clocks set back',
  shortRounds: 2,
  play,
};

async function play(round: Round): Promise<Outcome> {
  const script = writeScript(round.random, round.size, round.seed);
  const world = await createWorld(script, round);
  const journal = new Journal();
  const readLateness = watchLateness();
  await Promise.all(
    script.lanes.map((lane) => (lane.kind === 'agent' ? playAgent : playCommands)(world, lane, journal)),
  );
  const lateMs = readLateness();
  await closeOpenCalls(world, journal);
  const problems = [...journal.problems, ...(await verify(world)), ...(await judgeLedger(world, journal, script))];
  const waits = judgeWaits(journal.asked, lateMs);
  problems.push(...waits.problems);
  const counts = { [`rounds on ${NAMES[script.engine]}`]: 1, ...countAll(journal) };
  const highest = { 'agents, people and clients at once': script.lanes.length, ...waits.highest };
  return { counts, highest, problems, script: renderScript(script) };
}

/** The next server closes what the dead left open, and adds what hooks reported. */
async function closeOpenCalls({ program, folder: cwd, env }: World, journal: Journal): Promise<void> {
  const server = new ServerProcess({ program, cwd, env: { ...env, COLIBRI_AGENT_ID: 'last' } });
  await server.initialize('last');
  const health = await server.call('server_health', {});
  if (health?.data['status'] !== 'ok') journal.problems.push(`the last server is not healthy: ${server.errors}`);
  server.closeInput();
  await server.exit;
}

async function verify(world: World): Promise<string[]> {
  const { code, stdout, stderr } = await runCommand(world, ['verify', '--json']);
  return code === 0 ? [] : [`verify ended with exit code ${code}: ${stdout}${stderr}`.slice(0, 2000)];
}

async function judgeLedger({ ledger }: World, journal: Journal, script: Script): Promise<string[]> {
  const database = await openDatabase({ mode: 'READONLY', readOnly: true, durability: 'full', ...ledger });
  try {
    return await database.read((reader) => judge(reader, journal, { mayRefuse: hasLongStop(script) }));
  } finally {
    await database.close();
  }
}

function countAll(journal: Journal): Record<string, number> {
  const answered = journal.asked.filter(({ answer }) => answer !== undefined);
  const refused = answered.filter(({ answer }) => answer?.outcome !== 'ok');
  return {
    'calls and events': journal.asked.length,
    answered: answered.length,
    'refused by a rule': refused.filter(({ tool }) => !tool.startsWith('observe')).length,
    'events that a hook gave up on, and said so': refused.filter(({ tool }) => tool.startsWith('observe')).length,
    'without an answer': journal.asked.length - answered.length,
    ...Object.fromEntries(COUNTED.map((name) => [name, journal.countOf(name)])),
  };
}

const NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;

const COUNTED = [
  'server processes',
  'command processes',
  'hook processes',
  'kills (SIGKILL)',
  'SIGTERM',
  'SIGSTOP and SIGCONT',
  'inputs closed during calls',
  'outputs closed during calls',
  'pauses in which the client did not read',
  'verifications meanwhile',
  'views and backups meanwhile',
];
