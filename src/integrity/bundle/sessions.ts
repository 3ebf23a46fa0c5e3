import { foldLeaves, leafHash } from '../merkle.ts';
import type { Digest } from '../sha256.ts';
import type { OpenedEntry } from './verify.ts';

export interface SealedSession {
  readonly sessionId: string;
  /** How many of its records are in the bundle, and how many were sealed. */
  readonly records: number;
  readonly sealed: number;
  readonly root: Digest;
  readonly foundRoot: Digest;
}

/** The sessions whose seal is among the entries, with the records of them that are there too. */
export function findSealedSessions(entries: readonly OpenedEntry[]): SealedSession[] {
  return entries
    .filter(({ fields }) => fields.kind === 'session.finalized')
    .map(({ fields: seal }) => {
      const sessionId = seal['session_id'] as string;
      const records = entries.filter(
        ({ fields }) =>
          isRecordOf(fields, sessionId) && (seal['task_id'] === undefined || fields['task_id'] === seal['task_id']),
      );
      return {
        sessionId,
        records: records.length,
        sealed: seal['leaf_count'] as number,
        root: seal['root'] as string,
        foundRoot: foldLeaves(records.map(({ entry }) => leafHash(entry))),
      };
    });
}

function isRecordOf(fields: OpenedEntry['fields'], sessionId: string): boolean {
  if (fields.kind === 'thought') return fields['session_id'] === sessionId;
  const sessions = fields.kind.startsWith('task.') ? (fields['sessions'] as { session_id: string }[]) : [];
  return sessions.some(({ session_id }) => session_id === sessionId);
}
