import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type EntryBytes, type GrownTree, LogTree, type TreeNode } from './log-tree.ts';

/** Grows the tree of a log, and hands out its nodes some time after the entries below them were added. */
export interface TreeGrower {
  add(entries: EntryBytes): Promise<void>;
  /** To be awaited before anything is said about the whole: by then all nodes have been handed out. */
  finish(): Promise<GrownTree>;
  /** For who gives up; harmless after the end. */
  stop(): void;
}

type OnNodes = (nodes: readonly TreeNode[]) => void;

/** A thread takes some hundredths of a second to start. */
const WORTH_A_THREAD = 50_000;

/** Stands beside the program once that has been built. */
const THREAD = new URL('tree-thread.js', import.meta.url);

/** Most of what is hashed is the tree, which needs nothing but the bytes of the entries: another core can do it. */
export function growTree(size: number, onNodes: OnNodes): TreeGrower {
  const isWorthIt = size >= WORTH_A_THREAD && availableParallelism() > 1 && existsSync(THREAD);
  try {
    if (isWorthIt) return growInThread(THREAD, size, onNodes);
  } catch {
    // Node can be told to allow no threads.
  }
  return growHere(size, onNodes);
}

export function growHere(size: number, onNodes: OnNodes): TreeGrower {
  const tree = new LogTree(size);
  return {
    add: async (entries) => onNodes(tree.add(entries)),
    finish: async () => tree.finish(),
    stop: () => undefined,
  };
}

/** How many stretches may wait for the thread, so that a slow one does not fill the memory. */
const MAX_WAITING = 16;

export function growInThread(thread: URL, size: number, onNodes: OnNodes): TreeGrower {
  const worker = new Worker(thread, { workerData: size });
  let waiting = 0;
  let grown: GrownTree | undefined;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;
  worker.on('message', (answer: readonly TreeNode[] | GrownTree) => {
    waiting -= 1;
    if ('root' in answer) grown = answer;
    else onNodes(answer);
    wake();
  });
  const fail = (reason: Error) => {
    failure ??= reason;
    wake();
  };
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('the thread that hashes the log has ended before its time')));

  const untilWaiting = async (most: number) => {
    while (waiting > most) {
      if (failure !== undefined) throw failure;
      await new Promise<void>((resume) => {
        wake = resume;
      });
    }
  };
  const tell = (entries: EntryBytes | undefined) => {
    waiting += 1;
    worker.postMessage(entries);
  };
  return {
    add: (entries) => {
      tell({ bytes: entries.bytes, ends: entries.ends });
      return untilWaiting(MAX_WAITING);
    },
    finish: async () => {
      tell(undefined);
      await untilWaiting(0);
      if (grown === undefined) throw new Error('the thread that hashes the log did not say what became of it');
      return grown;
    },
    stop: () => void worker.terminate(),
  };
}
