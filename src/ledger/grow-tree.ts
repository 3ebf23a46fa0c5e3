import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type EntryBytes, type GrownTree, LogTree, type TreeNode } from './log-tree.ts';

/** Grows the tree of a log, and hands out its nodes some time after the entries below them were added. */
export interface TreeGrower {
  /** The bytes are given away. */
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
  try {
    if (size >= WORTH_A_THREAD && availableParallelism() > 1 && existsSync(THREAD))
      return growInThread(THREAD, size, onNodes);
  } catch {
    // Node can be told to allow no threads.
  }
  return growHere(size, onNodes);
}

/** Something went wrong with the thread, and nothing can be said about the log. */
export class ThreadFailure extends Error {}

export function growHere(size: number, onNodes: OnNodes): TreeGrower {
  const tree = new LogTree(size);
  return {
    add: async (entries) => onNodes(tree.add(entries)),
    finish: async () => tree.finish(),
    stop: () => undefined,
  };
}

export function growInThread(thread: URL, size: number, onNodes: OnNodes): TreeGrower {
  return new TreeThread(new Worker(thread, { workerData: size }), onNodes);
}

/** How many stretches may wait for the thread, so that a slow one does not fill the memory. */
const MAX_WAITING = 64;

class TreeThread implements TreeGrower {
  readonly #worker: Worker;
  #waiting = 0;
  #grown: GrownTree | undefined;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(worker: Worker, onNodes: OnNodes) {
    this.#worker = worker;
    worker.on('message', (answer: readonly TreeNode[] | GrownTree) => {
      this.#waiting -= 1;
      if ('root' in answer) this.#grown = answer;
      else onNodes(answer);
      this.#wake();
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('it has ended before its time')));
  }

  add(entries: EntryBytes): Promise<void> {
    const bytes = owned(entries.bytes);
    return this.#tell({ bytes, ends: entries.ends }, [bytes.buffer], MAX_WAITING);
  }

  async finish(): Promise<GrownTree> {
    await this.#tell(undefined, [], 0);
    if (this.#grown === undefined) throw new ThreadFailure('the thread did not say what became of the tree');
    return this.#grown;
  }

  stop(): void {
    void this.#worker.terminate();
  }

  async #tell(entries: EntryBytes | undefined, given: readonly ArrayBuffer[], mayWait: number): Promise<void> {
    this.#waiting += 1;
    this.#worker.postMessage(entries, given);
    while (this.#waiting > mayWait) {
      if (this.#failure !== undefined) throw new ThreadFailure(this.#failure.message, { cause: this.#failure });
      await new Promise<void>((resume) => {
        this.#wake = resume;
      });
    }
  }

  #fail(reason: Error): void {
    this.#failure ??= reason;
    this.#wake();
  }
}

/** What is all of its buffer can be given away; a part of another one has to be copied. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isAll = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
  return isAll ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
