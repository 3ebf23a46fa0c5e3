import { parentPort, workerData } from 'node:worker_threads';
import { type EntryBytes, LogTree } from './log-tree.ts';

/** The life of a thread that grows one tree: entries in, nodes out, and at the end what has become of it. */
const tree = new LogTree(workerData as number);
parentPort?.on('message', (entries: EntryBytes | undefined) => {
  parentPort?.postMessage(entries === undefined ? tree.finish() : tree.add(entries), []);
});
