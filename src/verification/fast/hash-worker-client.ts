import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Claim, type ClaimCheck, holds } from './deferred-digest.ts';
import { type EntryBytes, type GrownTree, LogTree, type TreeNode } from './log-tree.ts';

/** Hashes for who verifies: the tree over the log, and bytes of which the store says what they hash to. */
export interface Hasher extends ClaimCheck {
  /** May say so before it is known: where it is wrong, one of those that can be awaited ends with `VerificationRestart`. */
  holds(claim: Claim): boolean;
  /** The next entries of the log. The bytes are given away. */
  add(entries: EntryBytes): Promise<void>;
  /** The nodes that have become complete since the last time, in their order. They may come late. */
  takeNodes(): readonly TreeNode[];
  /** To be awaited now and then by who adds no entries, so that not too much waits. */
  pause(): Promise<void>;
  /** To be awaited before anything is said about the whole: by then all is known. */
  finish(): Promise<GrownTree>;
  /** For who gives up; harmless after the end. */
  stop(): void;
}

export interface HashJob {
  /** How many hashes it will be, roughly. */
  readonly hashes: number;
  /** How many entries the log has whose tree is to be grown. */
  readonly size: number;
}

/** A thread takes some hundredths of a second to start. */
const WORTH_A_THREAD = 150_000;

/** Stands beside the program once that has been built. */
const THREAD = new URL('hash-worker.js', import.meta.url);

/** Hashing needs nothing else than bytes of the store: another core can do it. */
export function startHasher(job: HashJob): Hasher {
  try {
    if (job.hashes >= WORTH_A_THREAD && availableParallelism() > 1 && existsSync(THREAD))
      return hashInThread(THREAD, job);
  } catch {
    // Node can be told to allow no threads.
  }
  return hashHere(job);
}

/** Everything has to be done again without a thread: it failed, or what was taken for granted is wrong. */
export class VerificationRestart extends Error {}

export type Progress = (done: number, total: number) => void;

/** What comes with each pass of a verification. */
export interface Hashing {
  readonly hasher: Hasher;
  readonly progress: Progress;
}

/** Verifies with a hasher; and a second time, so that the places are found, where the first had to be given up. */
export async function withHasher<Report>(
  job: HashJob,
  start: (job: HashJob) => Hasher,
  progress: Progress,
  verify: (hashing: Hashing) => Promise<Report>,
): Promise<Report> {
  const hasher = start(job);
  let reached = 0;
  try {
    return await verify({
      hasher,
      progress: (done, total) => {
        reached = done;
        progress(done, total);
      },
    });
  } catch (error) {
    if (!(error instanceof VerificationRestart)) throw error;
  } finally {
    hasher.stop();
  }
  // What was done counts as done, so that progress only rises; it turns out that there is more to do.
  return verify({
    hasher: hashHere(job),
    progress: (done, total) => progress(reached + done, reached + total),
  });
}

export function hashHere({ size }: HashJob): Hasher {
  const tree = new LogTree(size);
  const nodes: TreeNode[] = [];
  return {
    holds,
    add: async (entries) => {
      nodes.push(...tree.add(entries));
    },
    takeNodes: () => nodes.splice(0),
    pause: () => Promise.resolve(),
    finish: async () => tree.finish(),
    stop: () => undefined,
  };
}

export function hashInThread(thread: URL, { size }: HashJob): Hasher {
  return new HashThread(new Worker(thread, { workerData: size }));
}

/** What the thread is told: claims, and the next entries of the log or that there are no more. */
export interface Work {
  readonly claims: readonly Claim[];
  readonly entries: EntryBytes | undefined;
  readonly isLast: boolean;
}

/** What it answers: whether all claims hold, and the nodes that have become complete or the whole tree. */
export interface Answer {
  readonly areTrue: boolean;
  readonly nodes: readonly TreeNode[];
  readonly tree: GrownTree | undefined;
}

/** How many bytes may wait for the thread, so that a slow one does not fill the memory. */
const MAX_WAITING = 16 * 2 ** 20;

class HashThread implements Hasher {
  readonly #worker: Worker;
  /** Claims that the thread was not told of yet. */
  #untold: Claim[] = [];
  #nodes: TreeNode[] = [];
  /** How many bytes each work has that waits for its answer, and all of them. */
  readonly #sizes: number[] = [];
  #waiting = 0;
  #tree: GrownTree | undefined;
  #failure: unknown;
  #wake: () => void = () => undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (answer: Partial<Answer> | undefined) => this.#take(answer));
    worker.on('messageerror', (error) => this.#fail(error));
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('the thread has ended before its time')));
  }

  holds(claim: Claim): boolean {
    this.#untold.push({ ...claim, bytes: owned(claim.bytes) });
    return true;
  }

  add({ bytes, ends }: EntryBytes): Promise<void> {
    this.#tell({ bytes: owned(bytes), ends });
    return this.#until(() => this.#waiting <= MAX_WAITING);
  }

  takeNodes(): readonly TreeNode[] {
    const nodes = this.#nodes;
    this.#nodes = [];
    return nodes;
  }

  pause(): Promise<void> {
    this.#tell();
    return this.#until(() => this.#waiting <= MAX_WAITING);
  }

  async finish(): Promise<GrownTree> {
    this.#tell(undefined, true);
    await this.#until(() => this.#sizes.length === 0);
    if (this.#tree === undefined) throw new VerificationRestart('the thread did not say what became of the tree');
    return this.#tree;
  }

  stop(): void {
    void this.#worker.terminate();
  }

  #tell(entries?: EntryBytes, isLast = false): void {
    const claims = this.#untold;
    this.#untold = [];
    const given = [entries, ...claims].flatMap((part) => (part === undefined ? [] : [part.bytes.buffer]));
    const size = given.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#sizes.push(size);
    this.#waiting += size;
    this.#worker.postMessage({ claims, entries, isLast } satisfies Work, given as ArrayBuffer[]);
  }

  /** Whatever it may be: the file of the thread is read late, and an update of the program may have replaced it. */
  #take(answer: Partial<Answer> | undefined): void {
    this.#waiting -= this.#sizes.shift() ?? 0;
    const { areTrue, nodes, tree } = answer ?? {};
    if (areTrue !== true || !Array.isArray(nodes)) return this.#fail(new Error('not everything is as claimed'));
    this.#nodes.push(...(nodes as readonly TreeNode[]));
    this.#tree = tree;
    this.#wake();
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo() && this.#failure === undefined)
      await new Promise<void>((resume) => {
        this.#wake = resume;
      });
    if (this.#failure !== undefined) throw new VerificationRestart('without the thread', { cause: this.#failure });
  }

  #fail(reason: unknown): void {
    this.#failure ??= reason ?? new Error('the thread threw nothing');
    this.#wake();
  }
}

/** What is all of its buffer can be given away; a part of another one has to be copied. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isAll = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
  return isAll ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
