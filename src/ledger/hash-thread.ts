import { parentPort, workerData } from 'node:worker_threads';
import { areAsClaimed } from './contents.ts';
import type { Answer, Work } from './hasher.ts';
import { LogTree } from './log-tree.ts';

/** The life of a thread that hashes for one verification. */
const log = new LogTree(workerData as number);
parentPort?.on('message', ({ entries, contents }: Work) => {
  const areRight = contents.every(areAsClaimed);
  const nodes = entries === undefined ? [] : log.add(entries);
  const tree = entries === undefined ? log.finish() : undefined;
  parentPort?.postMessage({ nodes, tree, areRight } satisfies Answer, []);
});
