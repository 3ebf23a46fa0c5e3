import { type BenchLedger, createTaskWithSession, growChain, recordOne } from './ledger.ts';

const LENGTHS = [10, 10_000, 1_000_000];
const SAMPLES = 2000;

/** What one more decision costs, as a transaction of its own, on chains of three lengths. */
export async function measureGrowth({ database }: BenchLedger): Promise<string[]> {
  const warmUp = await createTaskWithSession(database);
  for (let number = 0; number < SAMPLES; number += 1)
    await database.write({ durable: false }, (db) => recordOne(db, warmUp.taskNo, warmUp.sessionNo, number));
  const { taskNo, sessionNo } = await createTaskWithSession(database);
  let length = 0;
  const medians: number[] = [];
  for (const target of LENGTHS) {
    await growChain(database, taskNo, sessionNo, length, target);
    length = target;
    const times: number[] = [];
    for (let sample = 0; sample < SAMPLES; sample += 1, length += 1) {
      const start = performance.now();
      await database.write({ durable: false }, (db) => recordOne(db, taskNo, sessionNo, length));
      times.push(performance.now() - start);
    }
    medians.push(times.sort((a, b) => a - b)[SAMPLES / 2] as number);
  }
  const first = medians[0] as number;
  return LENGTHS.map((target, index) => {
    const median = medians[index] as number;
    return `at length ${target}: ${(median * 1000).toFixed(1)} µs, ${(median / first).toFixed(2)} × the first (bar: 1.3)`;
  });
}
