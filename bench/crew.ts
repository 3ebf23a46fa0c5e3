import { CrewRun, type Score } from './crew/run.ts';
import { createBacklog, createColibri } from './crew/trackers.ts';

/**
 * The same crew with the same accidents on Colibri and on another tracker: which tasks are done twice, which never?
 * Usage: npm run build && node scripts/run-ts.mjs bench/crew.ts [--tasks 40] [--seeds 1,2,3]
 */

const TASKS = Number(option('tasks') ?? 40);
const SEEDS = (option('seeds') ?? '1,2,3').split(',').map(Number);

console.log(
  '| tracker | tasks | done once | done twice | never done | worked on by two at once |\n|---|---:|---:|---:|---:|---:|',
);
for (const create of [createColibri, createBacklog]) {
  const total: Score = { done: 0, twice: 0, never: 0, together: 0 };
  let name = '';
  for (const seed of SEEDS) {
    const tracker = create();
    ({ name } = tracker);
    const score = await new CrewRun(tracker, TASKS, seed).run();
    for (const field of ['done', 'twice', 'never', 'together'] as const) total[field] += score[field];
  }
  const { done, twice, never, together } = total;
  console.log(`| ${name} | ${TASKS * SEEDS.length} | ${done - twice} | ${twice} | ${never} | ${together} |`);
}

function option(name: string): string | undefined {
  const place = process.argv.indexOf(`--${name}`);
  return place < 0 ? undefined : process.argv[place + 1];
}
