import { TreeBuilder } from '../../merkle.ts';
import type { RawDigest } from '../../sha256.ts';
import type { SealedSession } from '../sessions.ts';
import type { OpenedEntry } from '../verify.ts';
import { idNumber, type RecordFacts } from './proved-entry.ts';

/** Follows the chains of thoughts and the records of sessions through a bundle. */
export class RecordTracker {
  readonly #chains = new Map<number, { readonly position: number; readonly hash: RawDigest }>();
  readonly #sessions = new Map<number, { readonly task: number; readonly leaf: RawDigest }[]>();
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
    const isLinked = previous !== undefined && before?.position === position - 1;
    if (isLinked && previous !== before.hash) return false;
    if (isLinked) this.#links += 1;
    this.#chains.set(task, { position, hash });
    return true;
  }

  /** What a seal is about; see `findSealedSessions`. */
  sealedBy({ fields: seal }: OpenedEntry): SealedSession {
    const sessionId = seal['session_id'] as string;
    const task = seal['task_id'] === undefined ? undefined : idNumber(seal['task_id'] as string);
    const records = this.#recordsOf(idNumber(sessionId)).filter((record) => task === undefined || record.task === task);
    const tree = new TreeBuilder();
    for (const { leaf } of records) tree.addRaw(leaf);
    return {
      sessionId,
      records: records.length,
      sealed: seal['leaf_count'] as number,
      root: seal['root'] as string,
      foundRoot: tree.root(),
    };
  }

  #recordsOf(session: number): { readonly task: number; readonly leaf: RawDigest }[] {
    const records = this.#sessions.get(session) ?? [];
    this.#sessions.set(session, records);
    return records;
  }
}
