import { type Digest, sha256 } from './sha256.ts';

/** The part of a thought that its own hash covers; the rest is bound by the entry in the log. */
export interface ChainedThought {
  readonly task_id: string;
  readonly type: string;
  readonly content: string;
  readonly previous_hash: Digest | null;
  readonly recorded_at: string;
  readonly recorded_by: string;
}

/** JSON.stringify of exactly these keys in exactly this order: the formula of the tool catalog, to the byte. */
export function thoughtHash({
  task_id,
  type,
  content,
  previous_hash,
  recorded_at,
  recorded_by,
}: ChainedThought): Digest {
  return sha256(JSON.stringify({ task_id, type, content, previous_hash, recorded_at, recorded_by }));
}
