import { formatSessionId, formatTaskId, formatThoughtId } from '../../ids.ts';
import { type Digest, type Entry, saltedDigest, thoughtHash } from '../../integrity/index.ts';
import type { ThoughtRow } from './repository.ts';

/** One place in a chain that does not hold. */
export interface BrokenLink {
  /** In the task's chain, or in the session. */
  readonly position: number;
  readonly expected_hash: string;
  readonly actual_hash: string;
  readonly record: string;
  readonly layer: 'hash' | 'link' | 'entry' | 'log' | 'session';
  readonly problem: string;
}

export interface ThoughtEvidence {
  readonly row: ThoughtRow;
  /** The thought before it in the chain of its task; undefined when there is none. */
  readonly previous: { readonly hash: Digest; readonly chain_position: number } | undefined;
  /** The entry at the index that the row names; undefined when it is missing or unreadable. */
  readonly entry: Entry | undefined;
}

/** Everything about one thought that can be checked without the tree around it. */
export function checkThought({ row, previous, entry }: ThoughtEvidence): BrokenLink[] {
  const record = formatThoughtId(row.thought_no);
  const broken: BrokenLink[] = [];
  const expect = (layer: BrokenLink['layer'], problem: string, expected: unknown, actual: unknown) => {
    if (expected === actual) return;
    const [expected_hash, actual_hash] = [String(expected), String(actual)];
    broken.push({ position: row.chain_position, expected_hash, actual_hash, record, layer, problem });
  };
  const computed = thoughtHash({ ...row, task_id: formatTaskId(row.task_no) });
  expect('hash', 'its content does not give its hash', row.hash, computed);
  expect('link', 'it does not follow the record before it', previous?.hash ?? null, row.previous_hash);
  expect('link', 'its position does not follow', (previous?.chain_position ?? 0) + 1, row.chain_position);
  for (const [field, value] of Object.entries(entryFields(row))) {
    expect('entry', `the log says otherwise about ${field}`, entry?.[field], value);
  }
  return broken;
}

/** What the entry of a thought says, as its row has it. */
function entryFields(row: ThoughtRow) {
  return {
    kind: 'thought',
    at: row.recorded_at,
    actor: row.recorded_by,
    task_id: formatTaskId(row.task_no),
    thought_id: formatThoughtId(row.thought_no),
    hash: row.hash,
    extras: /^[0-9a-f]{32}$/.test(row.salt) ? saltedDigest('extras', row.salt, row.extras) : '',
    chain_position: row.chain_position,
    attempt: row.attempt,
    session_id: formatSessionId(row.session_no),
    session_seq: row.session_seq,
  };
}

/** 100 only when every record was checked and holds. */
export function integrityScore(total: number, broken: readonly BrokenLink[]): number {
  if (broken.length === 0) return 100;
  const defective = new Set(broken.map(({ record }) => record)).size;
  const share = total === 0 ? 0 : Math.floor((100 * Math.max(0, total - defective)) / total);
  return Math.min(share, 99);
}
