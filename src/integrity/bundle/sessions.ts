import { foldLeaves, leafHash } from '../merkle.ts';
import type { OpenedEntry } from './verify.ts';

export interface SealedSession {
  readonly sessionId: string;
  /** How many of its records are in the bundle, and how many were sealed. */
  readonly records: number;
  readonly sealed: number;
  /** Whether those that are here have the root that was sealed. */
  readonly hasRoot: boolean;
}

/** The sessions whose seal is among the entries, with the records of them that are there too. */
export function findSealedSessions(entries: readonly OpenedEntry[]): SealedSession[] {
  const records = new Map<string, OpenedEntry[]>();
  for (const entry of entries) for (const sessionId of sessionsOf(entry.fields)) listIn(records, sessionId).push(entry);
  const seals = entries.filter(({ fields }) => fields.kind === 'session.finalized');
  return seals.map(({ fields: seal }) => {
    const sessionId = seal['session_id'] as string;
    const sealed = (records.get(sessionId) ?? []).filter(
      ({ fields }) => seal['task_id'] === undefined || fields['task_id'] === seal['task_id'],
    );
    return {
      sessionId,
      records: sealed.length,
      sealed: seal['leaf_count'] as number,
      hasRoot: foldLeaves(sealed.map(({ entry }) => leafHash(entry))) === seal['root'],
    };
  });
}

/** The sessions that an entry is a record of. */
function sessionsOf(fields: OpenedEntry['fields']): string[] {
  if (fields.kind === 'thought') return [fields['session_id'] as string];
  if (!fields.kind.startsWith('task.')) return [];
  return (fields['sessions'] as { session_id: string }[]).map(({ session_id }) => session_id);
}

function listIn<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
