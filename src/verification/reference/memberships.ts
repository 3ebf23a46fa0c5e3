import type { Reader } from '../../db/database.ts';
import type { Membership } from '../../domains/trail/sessions.ts';
import { parseId } from '../../ids.ts';
import type { Entry } from '../../integrity/index.ts';
import type { Report } from '../report.ts';
import type { LoggedEntry } from './stored-entries.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

interface LoggedMembership extends Membership {
  readonly index: number;
  /** The membership of a thought is in its own row. */
  readonly isThought: boolean;
}

/**
 * Checks the memberships that the entries of one page name. Returns how many rows session_events must have for them.
 */
export async function checkMemberships(
  reader: Reader,
  entries: readonly LoggedEntry[],
  report: Report,
): Promise<number> {
  const bySession = new Map<string, LoggedMembership[]>();
  let count = 0;
  for (const { index, entry } of entries) {
    for (const membership of membershipsOf(entry)) {
      if (!isMembership(membership)) {
        report(`entry ${index}`, 'names no membership of a session');
        continue;
      }
      const { session_id, session_seq } = membership;
      const memberships = bySession.get(session_id) ?? [];
      const isThought = entry.kind === 'thought';
      if (memberships.push({ index, session_id, session_seq, isThought }) === 1) bySession.set(session_id, memberships);
      if (!isThought) count += 1;
    }
  }
  for (const [sessionId, memberships] of bySession) {
    await checkOpen(reader, sessionId, memberships, report);
    for (const run of runs(memberships.filter(({ isThought }) => !isThought))) await checkRun(reader, run, report);
  }
  return count;
}

function membershipsOf(entry: Entry): readonly unknown[] {
  if (entry.kind === 'thought') return [entry];
  return Array.isArray(entry['sessions']) ? entry['sessions'] : [];
}

function isMembership(value: unknown): value is Membership {
  if (typeof value !== 'object' || value === null) return false;
  const { session_id, session_seq } = value as Partial<Record<string, unknown>>;
  return typeof session_id === 'string' && /^A-\d{4,}$/.test(session_id) && Number.isSafeInteger(session_seq);
}

/** A sealed session accepts no further records. */
async function checkOpen(
  reader: Reader,
  sessionId: string,
  memberships: readonly LoggedMembership[],
  report: Report,
): Promise<void> {
  const [session] = await reader.query<{ finalized_idx: number | null }>(
    'SELECT finalized_idx FROM sessions WHERE session_no = $1',
    [parseId(sessionId)],
  );
  const sealedAt = session?.finalized_idx ?? Number.POSITIVE_INFINITY;
  const late = memberships.find(({ index }) => index > sealedAt);
  if (late !== undefined) report(`entry ${late.index}`, `joined ${sessionId} after it was sealed`);
}

/** Consecutive memberships are read with one query. */
function runs(memberships: readonly LoggedMembership[]): LoggedMembership[][] {
  const found: LoggedMembership[][] = [];
  for (const membership of memberships) {
    const last = found.at(-1);
    if (last !== undefined && (last.at(-1)?.session_seq ?? 0) + 1 === membership.session_seq) last.push(membership);
    else found.push([membership]);
  }
  return found;
}

async function checkRun(reader: Reader, run: readonly LoggedMembership[], report: Report): Promise<void> {
  const [first] = run;
  if (first === undefined) return;
  const rows = await reader.query<{ session_seq: number; idx: number }>(
    `SELECT session_seq, idx FROM session_events
     WHERE session_no = $1 AND session_seq >= $2 AND session_seq < $3 ORDER BY session_seq`,
    [parseId(first.session_id), first.session_seq, first.session_seq + run.length],
  );
  const stored = indexRows(
    rows,
    ({ session_seq }) => session_seq,
    (seq) => report(`${first.session_id} record ${seq}`, STORED_TWICE),
  );
  for (const { index, session_id, session_seq } of run) {
    if (stored.get(session_seq)?.idx !== index)
      report(`${session_id} record ${session_seq}`, 'is not the entry that the log has at this position');
  }
}
