import { seededRandom } from '../test/support/random.ts';

/**
 * How long a call waits for the write lock when many agents share one ledger: calls arrive at random, each holds the
 * lock for the same time, first come, first served. Usage:
 *   node scripts/run-ts.mjs bench/simulate-agents.ts <calls per second of one ledger> [seconds between calls]
 */
const [rate = 500, pause = 20] = process.argv.slice(2).map(Number);
const AGENTS = [10, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000];
const CALLS = 200_000;

console.log(`| agents, a call every ${pause} s | lock in use | wait p50, ms | wait p99, ms |\n|---:|---:|---:|---:|`);
for (const agents of AGENTS) {
  const load = agents / pause / rate;
  if (load >= 1) {
    console.log(`| ${agents.toLocaleString('en')} | overloaded | grows | grows |`);
    continue;
  }
  const waits = simulate(agents / pause, 1 / rate).toSorted((a, b) => a - b);
  const at = (share: number) => ((waits[Math.floor(waits.length * share)] ?? 0) * 1000).toFixed(1);
  console.log(`| ${agents.toLocaleString('en')} | ${(100 * load).toFixed(0)} % | ${at(0.5)} | ${at(0.99)} |`);
}

/** The waiting times of calls that arrive at `arrivals` per second and are served in `service` seconds each. */
function simulate(arrivals: number, service: number): number[] {
  const random = seededRandom(20_261_115);
  const waits: number[] = [];
  let [now, free] = [0, 0];
  for (let call = 0; call < CALLS; call += 1) {
    now += -Math.log(1 - random()) / arrivals;
    const begin = Math.max(now, free);
    waits.push(begin - now);
    free = begin + service;
  }
  return waits;
}
