import { parentPort, workerData } from 'node:worker_threads';
import { holds } from './deferred-digest.ts';
import type { Answer, Work } from './hash-worker-client.ts';
import { LogTree } from './log-tree.ts';

/** The life of a thread that hashes for one verification. */
const log = new LogTree(workerData as number);
parentPort?.on('messageerror', (error) => {
  throw error;
});
parentPort?.on('message', ({ claims, entries, isLast }: Work) => {
  const areTrue = claims.every(holds);
  const nodes = entries === undefined ? [] : log.add(entries);
  const tree = isLast ? log.finish() : undefined;
  parentPort?.postMessage({ areTrue, nodes, tree } satisfies Answer, []);
});
