import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Hasher, HashJob } from '../hashing.ts';
import type { EntryBytes, GrownTree, TreeNode } from '../log-tree.ts';
import type { DeferredDigests } from './deferred-digest.ts';

/** Below this many hashes the worker's start takes longer than it saves. */
const MIN_HASHES = 150_000;

/** The build puts the worker beside the program. */
const WORKER = new URL('hash-worker.js', import.meta.url);

/** Returns undefined where a worker is not worth its start or cannot be started. */
export function startHashWorker(job: HashJob): Hasher | undefined {
  if (job.hashes < MIN_HASHES || availableParallelism() < 2 || !existsSync(WORKER)) return undefined;
  try {
    return hashInWorker(WORKER, job);
  } catch {
    // Node's permission model can forbid worker threads.
    return undefined;
  }
}

export function hashInWorker(file: URL, { size }: HashJob): Hasher {
  return new HashWorkerClient(new Worker(file, { workerData: size }));
}

export interface HashRequest {
  readonly deferred: readonly DeferredDigests[];
  readonly entries: EntryBytes | undefined;
  readonly isLast: boolean;
}

export interface HashResponse {
  readonly areEqual: boolean;
  readonly nodes: readonly TreeNode[];
  /** Only for the last request. */
  readonly tree: GrownTree | undefined;
}

/** Bounds the memory of requests that wait for a slow worker. */
const MAX_BACKLOG_BYTES = 16 * 2 ** 20;

class HashWorkerClient implements Hasher {
  isRefuted = false;
  readonly #worker: Worker;
  #unsent: DeferredDigests[] = [];
  #nodes: TreeNode[] = [];
  /** The size of each request that has no response yet. */
  readonly #requestBytes: number[] = [];
  #backlogBytes = 0;
  #tree: GrownTree | undefined;
  #wake: () => void = () => undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    const refute = () => this.refute();
    worker.on('message', (response: Partial<HashResponse> | undefined) => this.#receive(response));
    worker.on('messageerror', refute);
    worker.on('error', refute);
    worker.on('exit', refute);
  }

  refute(): void {
    this.isRefuted = true;
    this.#wake();
  }

  compare(deferred: DeferredDigests): 'pending' {
    this.#unsent.push('links' in deferred ? deferred : { ...deferred, bytes: transferable(deferred.bytes) });
    return 'pending';
  }

  add({ bytes, ends }: EntryBytes): Promise<void> {
    this.#send({ bytes: transferable(bytes), ends });
    return this.#until(() => this.#backlogBytes <= MAX_BACKLOG_BYTES);
  }

  takeNodes(): readonly TreeNode[] {
    const nodes = this.#nodes;
    this.#nodes = [];
    return nodes;
  }

  drain(): Promise<void> {
    this.#send();
    return this.#until(() => this.#backlogBytes <= MAX_BACKLOG_BYTES);
  }

  async finish(): Promise<GrownTree | undefined> {
    this.#send(undefined, true);
    await this.#until(() => this.#requestBytes.length === 0);
    if (this.#tree === undefined) this.refute();
    return this.isRefuted ? undefined : this.#tree;
  }

  stop(): void {
    void this.#worker.terminate();
  }

  #send(entries?: EntryBytes, isLast = false): void {
    const deferred = this.#unsent;
    this.#unsent = [];
    const buffers: ArrayBufferLike[] = [];
    let size = 0;
    for (const part of entries === undefined ? deferred : [entries, ...deferred]) {
      if ('links' in part) size += part.links.reduce((sum, { length }) => sum + length, 0);
      else {
        buffers.push(part.bytes.buffer);
        size += part.bytes.byteLength;
      }
    }
    this.#requestBytes.push(size);
    this.#backlogBytes += size;
    this.#worker.postMessage({ deferred, entries, isLast } satisfies HashRequest, buffers as ArrayBuffer[]);
  }

  /** Trusts no shape: an update may have replaced the worker's file after this program was loaded. */
  #receive(response: Partial<HashResponse> | undefined): void {
    this.#backlogBytes -= this.#requestBytes.shift() ?? 0;
    const { areEqual, nodes, tree } = response ?? {};
    if (areEqual !== true || !Array.isArray(nodes)) return this.refute();
    this.#nodes.push(...(nodes as readonly TreeNode[]));
    this.#tree = tree;
    this.#wake();
  }

  async #until(isReached: () => boolean): Promise<void> {
    while (!isReached() && !this.isRefuted)
      await new Promise<void>((resume) => {
        this.#wake = resume;
      });
  }
}

/** Only a whole buffer can be transferred; a part of one is copied. */
function transferable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
  return isWhole ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
