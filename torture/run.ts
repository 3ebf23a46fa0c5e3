import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Arguments, EXIT_USAGE, readArguments, UsageError } from './arguments.ts';
import { PARTS } from './parts.ts';
import { type Played, playPart } from './play.ts';
import { PostgresOnDemand } from './postgres-on-demand.ts';
import { type Results, renderReport } from './report.ts';

const HELP = `npm run torture -- [options]

  --minutes 10     how long, divided among the parts
  --each MINUTES   how long each part, instead
  --seed NUMBER    what the choices follow from; default: a new one, which is printed
  --only LIST      the parts to play: ${PARTS.map(({ name }) => name).join(', ')}
  --rounds N       maximum number of rounds of each part
  --short          the form that is part of npm test
  --report         writes the figures to torture/results.json and docs/reliability.md; parts that were not played keep theirs

Parts
${PARTS.map(({ name, says, minMinutes }) => `  ${name.padEnd(12)} ${says}${minMinutes === undefined ? '' : ` (runs of ${minMinutes} minutes or more, or with --only)`}`).join('\n')}

The exit code is 1 if a promise was broken, and 64 if the command line is wrong.`;

const RESULTS = 'torture/results.json';

try {
  const given = readArguments(process.argv.slice(2), PARTS, Date.now() % 1_000_000);
  if (given.isHelp) console.log(HELP);
  else await run(given);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`torture: ${error.message}`);
  process.exitCode = EXIT_USAGE;
}

async function run({ parts, seed, partMinutes, rounds, isShort, isReported }: Arguments): Promise<void> {
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
          size: isShort ? 'short' : 'full',
          timeMs: partMinutes * 60_000,
          rounds: isShort ? (part.shortRounds ?? 1) : rounds,
          parent,
          newPostgresUrl: () => postgres.newUrl(),
          log: (line) => console.error(line),
        }),
      );
  } finally {
    rmSync(parent, { recursive: true, force: true });
    await postgres.stop();
  }
  if (isReported) writeReport(played, seed);
  const broken = played.filter(({ problems }) => problems.length > 0);
  console.log(broken.length === 0 ? `seed ${seed}: no promise was broken` : `broken in ${list(broken)}; seed ${seed}`);
  // A round that ended with an error can leave processes behind, which end when this one does.
  process.exit(broken.length === 0 ? 0 : 1);
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
