import { parentPort, workerData } from 'node:worker_threads';
import { LogTree } from '../log-tree.ts';
import { match } from './deferred-digest.ts';
import type { HashRequest, HashResponse } from './hash-worker-client.ts';

/** Entry point of the worker thread: hashes for one verification. */
const log = new LogTree(workerData as number);
parentPort?.on('messageerror', (error) => {
  throw error;
});
parentPort?.on('message', ({ deferred, entries, isLast }: HashRequest) => {
  const areEqual = deferred.every(match);
  const nodes = entries === undefined ? [] : log.add(entries);
  const tree = isLast ? log.finish() : undefined;
  parentPort?.postMessage({ areEqual, nodes, tree } satisfies HashResponse, []);
});
