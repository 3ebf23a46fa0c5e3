import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { Cluster } from '../test/support/postgres/cluster.ts';
import { newSchema } from '../test/support/postgres/database.ts';
import { startBare, startServer, throughput, type Worker } from './postgres/team.ts';
import { median } from './support/measure.ts';
import { Workplace } from './support/servers.ts';

/**
 * What PostgreSQL costs: one server against the same server on SQLite, and several servers on one database against bare
 * clients that write the same rows. Both sides of a ratio are measured alternately; the medians are reported.
 */
const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '1,2,4,8' },
    calls: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '5' },
  },
});
const [calls, rounds] = [Number(values.calls), Number(values.rounds)];

console.log(`node ${process.versions.node} on ${cpus().length} × ${cpus()[0]?.model}, PostgreSQL 18, defaults\n`);
const cluster = await Cluster.create(['shared_buffers=128MB']);
const workplace = new Workplace();
try {
  await compareEngines();
  await compareTeams();
} finally {
  await workplace.close();
  await cluster.stop();
}

/** Calls per second of one server, back to back. */
async function compareEngines(): Promise<void> {
  const url = await newSchema(cluster.url(), 'single');
  const sqlite = () => startServer({ COLIBRI_DB_PATH: workplace.path('single.db') }, calls);
  const postgres = () => startServer({ COLIBRI_DATABASE_URL: url }, calls);
  const [onFile, onServer] = await inTurn([sqlite, postgres], 1);
  const [fileMs, serverMs] = [1000 / onFile, 1000 / onServer];
  console.log('| one server, task_create | ms | ratio | bar |\n|---|---:|---:|---:|');
  console.log(`| SQLite | ${fileMs.toFixed(2)} | 1 | |`);
  console.log(`| PostgreSQL | ${serverMs.toFixed(2)} | ${(serverMs / fileMs).toFixed(2)} | 3 |\n`);
}

async function compareTeams(): Promise<void> {
  console.log(
    '| servers | bare clients, transactions/s | Colibri, task_create/s | share | bar |\n|---:|---:|---:|---:|---:|',
  );
  for (const team of values.servers.split(',').map(Number)) {
    const [bareUrl, url] = [
      await newSchema(cluster.url(), `bare_${team}`),
      await newSchema(cluster.url(), `team_${team}`),
    ];
    // Creates the tables, and the counter rows that the bare clients update.
    (await startServer({ COLIBRI_DATABASE_URL: bareUrl }, 0)).end();
    const bare = () => startBare(bareUrl, calls);
    const colibri = () => startServer({ COLIBRI_DATABASE_URL: url }, calls);
    const [floor, reached] = await inTurn([bare, colibri], team);
    const share = `${((100 * reached) / floor).toFixed(0)} %`;
    console.log(`| ${team} | ${floor.toFixed(0)} | ${reached.toFixed(0)} | ${share} | ${team === 8 ? '60 %' : ''} |`);
  }
}

async function inTurn(starts: readonly (() => Promise<Worker>)[], team: number): Promise<[number, number]> {
  const rates = starts.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, start] of starts.entries()) rates[index]?.push(await throughput(start, team, calls));
  return rates.map(median) as [number, number];
}
