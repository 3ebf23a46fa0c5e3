import type { Reader } from '../../db/database.ts';
import { formatSessionId } from '../../ids.ts';

export interface OpenSession {
  readonly session_id: string;
  readonly started_by: string;
}

/** The sessions that are not sealed yet, oldest first. */
export async function listOpenSessions(db: Reader): Promise<OpenSession[]> {
  const rows = await db.query<{ session_no: number; started_by: string }>(
    'SELECT session_no, started_by FROM sessions WHERE finalized_idx IS NULL ORDER BY session_no',
  );
  return rows.map(({ session_no, started_by }) => ({ session_id: formatSessionId(session_no), started_by }));
}
