import { rawOfBytes, toHex, writeHex } from '../hex.ts';
import { type Digest, type RawDigest, rawSha256 } from '../sha256.ts';

/** RFC 6962, section 2.1: it keeps an inner node from passing for a leaf. */
const NODE_PREFIX = 0x01;
const DIGEST_BYTES = 32;
const LEFT = 1;
const RIGHT = LEFT + DIGEST_BYTES;

/** Grows a tree leaf by leaf in memory that grows with its height only. */
export class TreeBuilder {
  /** The node of each level that is being filled: its left part, then its right part. */
  readonly #nodes: Uint8Array[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Calls `onSubtree` for each perfect subtree of two leaves or more that this leaf completes, smallest first. */
  add(leaf: Digest, onSubtree?: (level: number, index: number, hash: Digest) => void): void {
    writeHex(leaf, this.#node(0), placeOf(this.#size), DIGEST_BYTES);
    this.#grow(onSubtree && ((level, index, hash) => onSubtree(level, index, toHex(hash))));
  }

  addRaw(leaf: RawDigest, onSubtree?: (level: number, index: number, hash: RawDigest) => void): void {
    writeRaw(leaf, this.#node(0), placeOf(this.#size));
    this.#grow(onSubtree);
  }

  root(): Digest {
    return toHex(this.rawRoot());
  }

  /** From the smallest perfect subtree up: each one becomes the left part of a node with what is right of it. */
  rawRoot(): RawDigest {
    let hash: RawDigest | undefined;
    for (let level = 0, count = this.#size; count > 0; level += 1, count = half(count)) {
      if (count % 2 === 0) continue;
      const node = this.#node(level);
      if (hash === undefined) {
        hash = rawOfBytes(node, LEFT, RIGHT);
        continue;
      }
      // Free until the next leaf comes, which may overwrite it.
      writeRaw(hash, node, RIGHT);
      hash = rawSha256(node);
    }
    return hash ?? rawSha256('');
  }

  /** Begins another tree in the same memory. */
  clear(): void {
    this.#size = 0;
  }

  /** The new leaf stands in its node; a node that is full gives one part of the node above it. */
  #grow(onSubtree: ((level: number, index: number, hash: RawDigest) => void) | undefined): void {
    let level = 0;
    for (let index = this.#size; index % 2 === 1; ) {
      const hash = rawSha256(this.#node(level));
      level += 1;
      index = half(index);
      writeRaw(hash, this.#node(level), placeOf(index));
      onSubtree?.(level, index, hash);
    }
    this.#size += 1;
  }

  #node(level: number): Uint8Array {
    this.#nodes[level] ??= emptyNode();
    return this.#nodes[level];
  }
}

function emptyNode(): Uint8Array {
  const node = new Uint8Array(RIGHT + DIGEST_BYTES);
  node[0] = NODE_PREFIX;
  return node;
}

function placeOf(index: number): number {
  return index % 2 === 0 ? LEFT : RIGHT;
}

/** A loop copies such a short text faster than a call of the runtime. */
function writeRaw(raw: RawDigest, target: Uint8Array, offset: number): void {
  for (let byte = 0; byte < DIGEST_BYTES; byte += 1) target[offset + byte] = raw.charCodeAt(byte);
}

function half(value: number): number {
  // Not the >> operator: it cuts its operand to 32 bits.
  return Math.floor(value / 2);
}
