import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../../test/support/random.ts';
import type { Tracker, Worker } from './trackers.ts';

const WORK_MS = 150;
const POLL_MS = 200;
/** Without progress for so long, nothing will happen any more: five times the TTL of Colibri. */
const PATIENCE_MS = 5000;

/** What happens to an agent right after its second claim, while it works. */
const FATES = ['dies', 'dies', 'restarts', 'restarts', 'stops', 'stops', 'lives', 'lives'] as const;

export interface Score {
  done: number;
  /** Finished by two agents, and the server accepted both. */
  twice: number;
  never: number;
  /** Begun by a second agent while the first, which is alive, still works on it. */
  together: number;
}

/** Eight agents that work off the tasks of a tracker. The seed decides what happens to whom. */
export class CrewRun {
  readonly #tracker: Tracker;
  readonly #tasks: number;
  readonly #random: () => number;
  readonly #finished = new Map<string, number>();
  readonly #working = new Map<string, Set<string>>();
  readonly #together = new Set<string>();
  #lastProgressMs = performance.now();

  constructor(tracker: Tracker, tasks: number, seed: number) {
    this.#tasks = tasks;
    this.#tracker = tracker;
    this.#random = seededRandom(seed);
  }

  async run(): Promise<Score> {
    const planner = await this.#tracker.connect('planner');
    for (let number = 1; number <= this.#tasks; number += 1) await planner.create(`task ${number}`);
    await planner.close();
    this.#lastProgressMs = performance.now();
    const fates = FATES.toSorted(() => this.#random() - 0.5);
    await Promise.all(fates.map((fate, number) => this.#live(`agent-${number}`, fate)));
    const counts = [...this.#finished.values()];
    return {
      done: counts.length,
      twice: counts.filter((count) => count > 1).length,
      never: this.#tasks - counts.length,
      together: this.#together.size,
    };
  }

  async #live(name: string, fate: string): Promise<void> {
    let worker = await this.#tracker.connect(name);
    for (let claims = 0; this.#finished.size < this.#tasks; ) {
      if (performance.now() - this.#lastProgressMs > PATIENCE_MS) break;
      const offers = await worker.offers();
      const task = offers[Math.floor(this.#random() * Math.min(4, offers.length))];
      const token = task === undefined ? undefined : await worker.claim(task);
      if (task === undefined || token === undefined) {
        await delay(POLL_MS);
        continue;
      }
      claims += 1;
      this.#begin(task, name);
      await delay(WORK_MS);
      const happens = claims === 2 ? fate : 'lives';
      if (happens === 'dies' || happens === 'restarts') {
        this.#end(task, name);
        await worker.kill();
        if (happens === 'dies') return;
        await delay(POLL_MS);
        worker = await this.#tracker.connect(name);
        continue;
      }
      if (happens === 'stops') await pause(worker);
      if (await worker.finish(task, token)) this.#count(task);
      this.#end(task, name);
    }
    await worker.close();
  }

  #begin(task: string, name: string): void {
    const others = this.#working.get(task) ?? new Set();
    if (others.size > 0 && !others.has(name)) this.#together.add(task);
    this.#working.set(task, others.add(name));
  }

  #end(task: string, name: string): void {
    this.#working.get(task)?.delete(name);
  }

  #count(task: string): void {
    this.#finished.set(task, (this.#finished.get(task) ?? 0) + 1);
    this.#lastProgressMs = performance.now();
  }
}

/** The server stands still for longer than a claim lasts, as in a laptop that swaps. */
async function pause({ pid }: Worker): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await delay(2 * 1000);
  process.kill(pid, 'SIGCONT');
}
