import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Cluster } from '../test/support/postgres/cluster.ts';
import { newSchema } from '../test/support/postgres/database.ts';
import { BARS, type Case, judge, type Row, renderCases } from './contention/report.ts';
import { type Measured, measure } from './contention/run.ts';
import { allTools, creates, peerCreates } from './contention/scripts.ts';
import { median } from './support/measure.ts';
import { installPeer, PEER } from './support/peer.ts';
import { Workplace } from './support/servers.ts';

/** Many servers on one ledger: their combined rate compared with one server in the same run. */

const CASES = ['full', 'relaxed', 'full-mix', 'relaxed-mix', 'peer', 'postgres', 'postgres-mix'];

const HELP = `npm run bench -- contention [options]

  --servers 1,4,12,32   numbers of servers; the first is the baseline
  --cases LIST          of ${CASES.join(', ')}; default all
  --calls 1500          how many calls per server are measured, after as many that are not
  --rounds 3            repetitions; the report has the medians
  --check               exit code 1 if a limit is exceeded
  --write               also saves the report as bench/results/contention.md

"full" and "relaxed" create tasks with that durability; those with "mix" call all 14 tools. "peer" is ${PEER.name} ${PEER.version},
which neither audits nor syncs; it is installed from the registry into the system's temporary folder.`;

const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '1,4,12,32' },
    cases: { type: 'string', default: CASES.join(',') },
    calls: { type: 'string', default: '1500' },
    rounds: { type: 'string', default: '3' },
    check: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const dist = fileURLToPath(new URL('..', import.meta.url));
const SIZES = values.servers.split(',').map(Number);

if (values.help) console.log(HELP);
else await run();

async function run(): Promise<void> {
  const workplace = new Workplace();
  const wanted = values.cases.split(',');
  const cluster = wanted.some((name) => name.startsWith('postgres')) ? await Cluster.create() : undefined;
  try {
    const cases = await createCases(wanted, workplace, cluster);
    const rows: Row[] = [];
    for (const test of cases) rows.push(...(await measureCase(test)));
    report(rows);
  } finally {
    await workplace.close();
    await cluster?.stop();
  }
}

async function createCases(
  wanted: readonly string[],
  workplace: Workplace,
  cluster: Cluster | undefined,
): Promise<Case[]> {
  let stores = 0;
  const newName = () => {
    stores += 1;
    return `team_${stores}`;
  };
  const newFile = () => workplace.path(`${newName()}.db`);
  const newUrl = () => newSchema(cluster?.url() ?? '', newName());
  const colibri = async (env: Record<string, string>) => ({
    file: join(dist, 'colibri.cjs'),
    env: { COLIBRI_LOG_LEVEL: 'error', ...env },
  });
  const onFile = (durability: string) => () => colibri({ COLIBRI_DB_PATH: newFile(), COLIBRI_DURABILITY: durability });
  const onPostgres = async () => colibri({ COLIBRI_DATABASE_URL: await newUrl() });
  const all: Record<string, Case> = {
    full: { name: 'full', program: onFile('full'), script: creates },
    relaxed: { name: 'relaxed', program: onFile('relaxed'), script: creates },
    'full-mix': { name: 'full-mix', program: onFile('full'), script: allTools },
    'relaxed-mix': { name: 'relaxed-mix', program: onFile('relaxed'), script: allTools },
    peer: {
      name: 'peer',
      program: async () => ({ file: installPeer(PEER), env: { DATABASE_PATH: newFile(), LOG_LEVEL: 'fatal' } }),
      script: peerCreates,
    },
    postgres: { name: 'postgres', program: onPostgres, script: creates },
    'postgres-mix': { name: 'postgres-mix', program: onPostgres, script: allTools },
  };
  return wanted.map((name) => {
    const found = all[name];
    if (found === undefined) throw new Error(`no case ${name}; run with --help to see them`);
    return found;
  });
}

async function measureCase(test: Case): Promise<Row[]> {
  const runs = new Map<number, Measured[]>(SIZES.map((servers) => [servers, []]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const servers of SIZES) {
      const measured = await measure(await test.program(), test.script, servers, Number(values.calls));
      runs.get(servers)?.push(measured);
      console.error(`${test.name} ${servers}: ${measured.perSecond.toFixed(0)}/s`);
    }
  }
  return [...runs].map(([servers, measured]) => ({ name: test.name, servers, ...mediansOf(measured) }));
}

function mediansOf(runs: readonly Measured[]): Measured {
  const middle = (pick: (run: Measured) => number) => median(runs.map(pick));
  return {
    perSecond: middle(({ perSecond }) => perSecond),
    cpuMsPerCall: middle(({ cpuMsPerCall }) => cpuMsPerCall),
    longestWaitMs: middle(({ longestWaitMs }) => longestWaitMs),
    slowest: middle(({ slowest }) => slowest),
  };
}

function report(rows: readonly Row[]): void {
  const machine = `node ${process.versions.node} on ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`;
  const findings = judge(rows, BARS);
  const text = `${machine}, ${values.rounds} rounds of ${values.calls} calls per server, medians\n\n${renderCases(rows, findings)}`;
  console.log(text);
  if (values.write)
    writeFileSync(
      fileURLToPath(new URL('../../bench/results/contention.md', import.meta.url)),
      `# Many servers on one store\n\nWritten by \`npm run bench -- contention --write\`.\n\n${text}`,
    );
  if (values.check && findings.some(({ isMet }) => !isMet)) process.exitCode = 1;
}
