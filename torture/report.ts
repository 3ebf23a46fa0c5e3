import type { Played } from './play.ts';

/** What one run of a part showed, as stored in torture/results.json. */
export interface Result extends Omit<Played, 'name'> {
  /** What the part did. */
  readonly says: string;
  readonly date: string;
  readonly seed: number;
  readonly version: string;
  readonly system: string;
}

export type Results = Readonly<Record<string, Result>>;

/** docs/reliability.md: the last reported run of each part, and nothing that did not run. */
export function renderReport(results: Results): string {
  const parts = Object.entries(results).map(([name, result]) => renderPart(name, result));
  return `${['# Reliability', INTRODUCTION, ...parts, LIMITS].join('\n\n')}\n`;
}

const INTRODUCTION = `\`npm run torture\` breaks everything around Colibri and checks that no answered change is lost, that no entry is written
twice, and that every ledger verifies. \`npm test\` plays short rounds with a fixed seed of every part that needs no long run.

\`npm run torture -- --report\` writes this page from the figures of its run (\`torture/results.json\`). Each part shows its
last reported run. Round n of a run has the seed + n: \`npm run torture -- --only NAME --seed SEED --rounds 1\` plays one
round again.`;

const LIMITS = `## Limits

What the runs found and Colibri does not prevent:

- **A ping before the ledger is open.** \`server_ping\` answers while the server still opens its ledger, and is recorded
  afterwards. If the process is killed in between, the answered ping has no entry. It changed nothing.
- **A commit that git does not show within 2 seconds.** The hook of git gives up, because git waits for it: it prints one
  line on stderr, the commit is not recorded, and \`colibri doctor\` counts it.
- **A stopped writer.** A process that is stopped (SIGSTOP) while it holds the write lock of an SQLite file blocks the others.
  They answer with an error after 10 seconds, and nothing is lost.
- **A refused call of a server that PostgreSQL gave up.** If the connection is lost while a call is refused, the client gets the
  refusal, and another server may already have recorded the call as interrupted. It changed nothing either way.
- **An entry that is forged where a server has read before.** \`audit_verify_chain\` reads each entry of the log once per
  process, so that its cost does not grow with the log. It finds every record that was removed or changed. If an entry in
  the part already read is replaced by one that names a further record, \`colibri verify\` finds it, and so does the next process.
- **\`LANG\` with characters that no locale has** crashes Node itself before it runs a program.`;

function renderPart(name: string, result: Result): string {
  const { says, date, seed, rounds, seconds, version, system, counts, highest, problems, skipped } = result;
  const length = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  const seeds = rounds === 1 ? `seed ${seed}` : `${count(rounds)} rounds, seeds ${seed} to ${seed + rounds - 1}`;
  const rows = [...Object.entries(counts), ...Object.entries(highest)].map(([what, value]) => [what, count(value)]);
  return [
    `## ${name}`,
    `It ${says}.`,
    `${date}, Colibri ${version}, ${system}: ${length}, ${seeds}.`,
    renderTable(['', 'figure'], [...rows, ['broken promises', count(problems.length)]]),
    ...skipped.map((reason) => `Not tried: ${reason}.`),
    ...problems.map((problem) => `**Broken:** ${problem}`),
  ].join('\n\n');
}

/** Padded as the formatter would, so that the page needs no formatting. */
function renderTable(head: readonly [string, string], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const [left, right] = [0, 1].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = ([what = '', value = '']: readonly string[]) =>
    `| ${what.padEnd(left as number)} | ${value.padStart(right as number)} |`;
  const rule = `| ${'-'.repeat(left as number)} | ${'-'.repeat((right as number) - 1)}: |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

function count(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 2 });
}
