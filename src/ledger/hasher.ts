import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { areAsClaimed, type ContentCheck, type Contents } from './contents.ts';
import { type EntryBytes, type GrownTree, LogTree, type TreeNode } from './log-tree.ts';

/** Hashes what a log is verified by: the tree over its entries, and contents of which entries have a digest. */
export interface Hasher extends ContentCheck {
  /** Hands out nodes some time after the entries below them were added. The bytes are given away. */
  add(entries: EntryBytes): Promise<void>;
  /** May say so before it is known: where it is wrong, `add` or `finish` ends with `StartOver`. */
  areAsClaimed(contents: Contents): boolean;
  /** To be awaited before anything is said about the whole: by then all is known. */
  finish(): Promise<GrownTree>;
  /** For who gives up; harmless after the end. */
  stop(): void;
}

/** Everything has to be hashed again without a thread: it failed, or what was taken for granted is wrong. */
export class StartOver extends Error {}

type OnNodes = (nodes: readonly TreeNode[]) => void;

/** A thread takes some hundredths of a second to start. */
const WORTH_A_THREAD = 50_000;

/** Stands beside the program once that has been built. */
const THREAD = new URL('hash-thread.js', import.meta.url);

/** Most of what is hashed needs nothing else than bytes of the store: another core can do it. */
export function startHasher(size: number, onNodes: OnNodes): Hasher {
  try {
    if (size >= WORTH_A_THREAD && availableParallelism() > 1 && existsSync(THREAD))
      return hashInThread(THREAD, size, onNodes);
  } catch {
    // Node can be told to allow no threads.
  }
  return hashHere(size, onNodes);
}

export function hashHere(size: number, onNodes: OnNodes): Hasher {
  const tree = new LogTree(size);
  return {
    add: async (entries) => onNodes(tree.add(entries)),
    areAsClaimed,
    finish: async () => tree.finish(),
    stop: () => undefined,
  };
}

export function hashInThread(thread: URL, size: number, onNodes: OnNodes): Hasher {
  return new HashThread(new Worker(thread, { workerData: size }), onNodes);
}

/** What the thread is told: a stretch of the log, or that this was the last; and contents since the stretch before. */
export interface Work {
  readonly entries: EntryBytes | undefined;
  readonly contents: readonly Contents[];
}

/** What it answers: the nodes of that stretch, or the whole tree; and whether all contents are as claimed. */
export interface Answer {
  readonly nodes: readonly TreeNode[];
  readonly tree: GrownTree | undefined;
  readonly areRight: boolean;
}

/** How many bytes may wait for the thread, so that a slow one does not fill the memory. */
const MAX_WAITING = 16 * 2 ** 20;

class HashThread implements Hasher {
  readonly #worker: Worker;
  /** To be told with the next stretch. */
  #contents: Contents[] = [];
  /** How many bytes each piece of work has that waits for its answer, and all of them. */
  readonly #sizes: number[] = [];
  #waiting = 0;
  #tree: GrownTree | undefined;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(worker: Worker, onNodes: OnNodes) {
    this.#worker = worker;
    worker.on('message', ({ nodes, tree, areRight }: Answer) => {
      this.#waiting -= this.#sizes.shift() ?? 0;
      if (!areRight) this.#fail(new Error('a content is not the one of which the log has the digest'));
      this.#tree = tree;
      onNodes(nodes);
      this.#wake();
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('the thread has ended before its time')));
  }

  async add({ bytes, ends }: EntryBytes): Promise<void> {
    this.#tell({ bytes: owned(bytes), ends });
    await this.#until(() => this.#waiting <= MAX_WAITING);
  }

  areAsClaimed({ label, bytes, claimed }: Contents): boolean {
    this.#contents.push({ label, bytes: owned(bytes), claimed });
    return true;
  }

  async finish(): Promise<GrownTree> {
    this.#tell(undefined);
    await this.#until(() => this.#sizes.length === 0);
    if (this.#tree === undefined) throw new StartOver('the thread did not say what became of the tree');
    return this.#tree;
  }

  stop(): void {
    void this.#worker.terminate();
  }

  #tell(entries: EntryBytes | undefined): void {
    const contents = this.#contents;
    this.#contents = [];
    const given = [entries, ...contents].flatMap((part) => (part === undefined ? [] : [part.bytes.buffer]));
    const size = given.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#sizes.push(size);
    this.#waiting += size;
    this.#worker.postMessage({ entries, contents } satisfies Work, given as ArrayBuffer[]);
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo() && this.#failure === undefined)
      await new Promise<void>((resume) => {
        this.#wake = resume;
      });
    if (this.#failure !== undefined) throw new StartOver(this.#failure.message, { cause: this.#failure });
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
