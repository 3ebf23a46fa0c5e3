import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Part } from './part.ts';
import { PARTS } from './parts.ts';
import { type Played, playPart } from './play.ts';
import { PostgresOnDemand } from './postgres-on-demand.ts';
import { type Results, renderReport } from './report.ts';

const HELP = `npm run torture -- [options]

  --minutes 10     how long, divided among the parts
  --seed NUMBER    what the choices follow from; default: a new one, which is printed
  --only LIST      the parts to play: ${PARTS.map(({ name }) => name).join(', ')}
  --rounds N       maximum number of rounds of each part
  --short          the form that is part of npm test
  --report         writes the figures to torture/results.json and docs/reliability.md

Parts
${PARTS.map(({ name, says, minMinutes }) => `  ${name.padEnd(12)} ${says}${minMinutes === undefined ? '' : ` (runs of ${minMinutes} minutes or more, or with --only)`}`).join('\n')}

The exit code is 1 if a promise was broken.`;

const RESULTS = 'torture/results.json';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
    rounds: { type: 'string', default: 'Infinity' },
    short: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) console.log(HELP);
else await run();

async function run(): Promise<void> {
  const [minutes, seed, rounds] = [values.minutes, values.seed, values.rounds].map(readNumber) as [
    number,
    number,
    number,
  ];
  const parts = chooseParts(minutes);
  const postgres = new PostgresOnDemand();
  // Outside of this repository, whose ledger the processes would look for.
  const parent = mkdtempSync(join(tmpdir(), 'colibri-torture-'));
  console.log(`seed ${seed}: ${parts.map(({ name }) => name).join(', ')}`);
  const played: Played[] = [];
  try {
    for (const part of parts)
      played.push(
        await playPart(part, {
          seed,
          size: values.short ? 'short' : 'full',
          timeMs: (minutes * 60_000) / parts.length,
          rounds: values.short ? 1 : rounds,
          parent,
          newPostgresUrl: () => postgres.newUrl(),
          log: (line) => console.error(line),
        }),
      );
  } finally {
    rmSync(parent, { recursive: true, force: true });
    await postgres.stop();
  }
  if (values.report) writeReport(played, seed);
  const broken = played.filter(({ problems }) => problems.length > 0);
  console.log(broken.length === 0 ? `seed ${seed}: no promise was broken` : `broken in ${list(broken)}; seed ${seed}`);
  // A round that ended with an error can leave processes behind, which end when this one does.
  process.exit(broken.length === 0 ? 0 : 1);
}

function chooseParts(minutes: number): readonly Part[] {
  if (values.only === undefined) return PARTS.filter(({ minMinutes = 0 }) => minMinutes <= minutes);
  return values.only.split(',').map((name) => {
    const part = PARTS.find((candidate) => candidate.name === name);
    if (part === undefined) throw new Error(`no part ${name}; run with --help to see them`);
    return part;
  });
}

function readNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || Number.isNaN(number) || number < 0) throw new Error(`"${text}" is not a number`);
  return number;
}

function writeReport(played: readonly Played[], seed: number): void {
  const before = existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as Results) : {};
  const facts = {
    date: new Date().toISOString().slice(0, 10),
    seed,
    version: (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version,
    system: `Node ${process.versions.node}, ${process.platform} ${process.arch}`,
  };
  const newest = new Map(played.map(({ name, ...result }) => [name, { ...facts, ...result }]));
  const results: Results = Object.fromEntries(
    PARTS.flatMap(({ name, says }) => {
      const result = newest.get(name);
      const shown = result === undefined ? before[name] : { says, ...result };
      return shown === undefined ? [] : [[name, shown]];
    }),
  );
  writeFileSync(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync('docs/reliability.md', renderReport(results));
}

function list(played: readonly Played[]): string {
  return played.map(({ name }) => name).join(', ');
}
