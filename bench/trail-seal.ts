import type { Database } from '../src/db/database.ts';
import { createProofTools } from '../src/domains/proofs/tools.ts';
import { formatSessionId } from '../src/ids.ts';
import { createTaskWithSession, growChain } from './trail-ledger.ts';

/** merkle_finalize at two sizes: the time, and the memory that is left over from the work. */
export async function measureSeal(database: Database): Promise<string[]> {
  const lines: string[] = [];
  const tool = createProofTools().find(({ name }) => name === 'merkle_finalize');
  for (const records of [10_000, 100_000]) {
    const { taskNo, sessionNo } = await createTaskWithSession(database);
    await growChain(database, taskNo, sessionNo, 0, records);
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().heapUsed)), 5);
    const start = performance.now();
    await database.write({ durable: true }, async (db) => {
      const context = { db, actor: 'bench', at: '2026-04-08T23:15:00.000Z', progress: () => undefined };
      await tool?.handle({ session_id: formatSessionId(sessionNo) }, context);
    });
    const ms = performance.now() - start;
    peak = Math.max(peak, process.memoryUsage().heapUsed);
    clearInterval(watch);
    lines.push(
      `${records} records sealed in ${ms.toFixed(0)} ms, heap grew by at most ${((peak - before) / 1e6).toFixed(1)} MB`,
    );
  }
  return [...lines, 'bar: 100000 records under 1000 ms, memory flat'];
}
