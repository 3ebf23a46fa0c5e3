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
  return `${['# Reliability', INTRODUCTION, ...parts].join('\n\n')}\n`;
}

const INTRODUCTION = `\`npm run torture\` breaks everything around Colibri and checks that no answered change is lost, that no entry is written
twice, and that every ledger verifies. \`npm test\` plays a short form of each part with a fixed seed.

\`npm run torture -- --report\` writes this page from the figures of its run (\`torture/results.json\`). Each part shows its
last reported run. Round n of a run has the seed + n: \`npm run torture -- --only NAME --seed SEED --rounds 1\` plays one
round again.`;

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
