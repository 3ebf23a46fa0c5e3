import { createProofTools } from '../../src/domains/proofs/tools.ts';
import { formatSessionId } from '../../src/ids.ts';
import { type BenchLedger, createTaskWithSession, growChain, undone } from './ledger.ts';

const RUNS = 5;

/** merkle_finalize at two sizes, the quickest of a few; what it keeps alive is in the part about memory. */
export async function measureSeal({ database }: BenchLedger): Promise<string[]> {
  const lines: string[] = [];
  const tool = createProofTools(() => undefined).find(({ name }) => name === 'merkle_finalize');
  for (const records of [10_000, 100_000]) {
    const { taskNo, sessionNo } = await createTaskWithSession(database);
    await growChain(database, taskNo, sessionNo, 0, records);
    let quickest = Number.POSITIVE_INFINITY;
    for (let run = 0; run < RUNS; run += 1) {
      const start = performance.now();
      await undone(database, async (db) => {
        const context = {
          db,
          actor: 'bench',
          at: '2026-04-08T23:15:00.000Z',
          progress: () => undefined,
          signal: new AbortController().signal,
        };
        await tool?.handle({ session_id: formatSessionId(sessionNo) }, context);
      });
      quickest = Math.min(quickest, performance.now() - start);
    }
    lines.push(`${records} records in ${quickest.toFixed(0)} ms`);
  }
  return [...lines, 'bar: 100000 records under 1000 ms'];
}
