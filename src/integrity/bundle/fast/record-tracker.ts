import { TreeBuilder } from '../../primitives/tree-builder.ts';
import type { RawDigest } from '../../sha256.ts';
import type { SealedSession } from '../sessions.ts';
import { isHexOf } from './bytes/hex-bytes.ts';
import { type RecordFacts, type SealFacts, sessionIdOf } from './proved-entry.ts';

/** Follows the chains of thoughts and the records of sessions through a bundle. */
export class RecordTracker {
  readonly #chains = new Map<number, { readonly position: number; readonly hash: RawDigest }>();
  readonly #sessions = new Map<number, { readonly task: number; readonly leaf: RawDigest }[]>();
  readonly #seals: SealFacts[] = [];
  readonly #tree = new TreeBuilder();
  #links = 0;

  /** How many thoughts link to the one before them. */
  get links(): number {
    return this.#links;
  }

  /** Returns false for a thought that does not link to the one before it. */
  add({ task, sessions, link }: RecordFacts, leaf: RawDigest): boolean {
    for (const session of sessions) this.#recordsOf(session).push({ task, leaf });
    if (link === undefined) return true;
    const { position, hash, previous } = link;
    const before = this.#chains.get(task);
    if (previous !== undefined && before?.position === position - 1) {
      if (previous === null || !isHexOf(previous.source, previous.at, before.hash)) return false;
      this.#links += 1;
    }
    this.#chains.set(task, { position, hash });
    return true;
  }

  /** Adds a seal, which may come before records that are none of its own. */
  seal(facts: SealFacts): void {
    this.#seals.push(facts);
  }

  /** What the seals are about; see `findSealedSessions`. */
  listSealed(): SealedSession[] {
    return this.#seals.map((seal) => this.#sealedBy(seal));
  }

  #sealedBy({ session, task, records: sealed, root }: SealFacts): SealedSession {
    const tree = this.#tree;
    tree.clear();
    for (const record of this.#recordsOf(session))
      if (task === undefined || record.task === task) tree.addRaw(record.leaf);
    return { sessionId: sessionIdOf(session), records: tree.size, sealed, hasRoot: tree.rawRoot() === root };
  }

  #recordsOf(session: number): { readonly task: number; readonly leaf: RawDigest }[] {
    const records = this.#sessions.get(session) ?? [];
    this.#sessions.set(session, records);
    return records;
  }
}
