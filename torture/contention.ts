import { resolve } from 'node:path';
import { BARS, judge, type Row } from '../bench/contention/report.ts';
import { measure, type Script } from '../bench/contention/run.ts';
import { allTools, creates } from '../bench/contention/scripts.ts';
import type { Outcome, Part, Round } from './part.ts';

/** Whether waiting is fair and throughput holds, by the bars of `npm run bench -- contention`. */
export const CONTENTION: Part = {
  name: 'contention',
  says: 'measures 1, 4, 12 and 32 servers on one ledger, each called back to back, and compares them with the bars of bench/contention/report.ts',
  // Only a quiet machine tells.
  minMinutes: 30,
  play,
};

const SERVERS = [1, 4, 12, 32];
/** Of each server, after those in which it compiles its code. */
const CALLS = 500;

async function play({ folder, newPostgresUrl, log }: Round): Promise<Outcome> {
  const rows: Row[] = [];
  const onFile = async (name: string) => ({ COLIBRI_DB_PATH: resolve(folder, `${name}.db`) });
  const onPostgres = async () => ({ COLIBRI_DATABASE_URL: await newPostgresUrl() });
  const cases: [string, (name: string) => Promise<Record<string, string>>, Script][] = [
    ['full', onFile, creates],
    ['full-mix', onFile, allTools],
    ['postgres', onPostgres, creates],
    ['postgres-mix', onPostgres, allTools],
  ];
  for (const [name, place, script] of cases)
    for (const servers of SERVERS) {
      const env = { COLIBRI_LOG_LEVEL: 'error', COLIBRI_KEY_PATH: 'none', ...(await place(`${name}-${servers}`)) };
      const measured = await measure({ file: resolve('dist/colibri.cjs'), env }, script, servers, CALLS);
      log(`${name}, ${servers} servers: ${measured.perSecond.toFixed(0)} calls per second`);
      rows.push({ name, servers, ...measured });
    }
  const findings = judge(rows, BARS);
  const missed = findings.filter(({ isMet }) => !isMet);
  return {
    counts: { 'bars of contention that are met': findings.length - missed.length },
    highest: Object.fromEntries(
      rows.flatMap(({ name, servers, perSecond, longestWaitMs }) => [
        [`${name}, ${servers} servers: calls per second`, Math.round(perSecond)],
        [`${name}, ${servers} servers: longest wait, ms`, Math.round(longestWaitMs)],
      ]),
    ),
    problems: missed.map(
      ({ name, servers, says, value, bar }) =>
        `${name}, ${servers} servers: ${says} is ${value.toFixed(2)}, not ${bar}`,
    ),
  };
}
