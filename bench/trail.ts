import { rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { measureGrowth } from './trail/growth.ts';
import { openBenchLedger } from './trail/ledger.ts';
import { measureMemory } from './trail/memory.ts';
import { measureSeal } from './trail/seal.ts';
import { measureVerification } from './trail/verify.ts';

/** Each part prints ratios that were measured in one run on one machine. */
const PARTS = { verify: measureVerification, seal: measureSeal, growth: measureGrowth, memory: measureMemory };

console.log(`node ${process.versions.node} on ${cpus().length} × ${cpus()[0]?.model}`);
for (const [name, measure] of Object.entries(PARTS)) {
  if (process.argv[2] !== undefined && process.argv[2] !== name) continue;
  const ledger = await openBenchLedger();
  try {
    for (const line of await measure(ledger)) console.log(`${name}: ${line}`);
  } finally {
    await ledger.database.close();
    rmSync(ledger.folder, { recursive: true });
  }
}
