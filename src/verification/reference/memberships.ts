import type { Reader } from '../../db/database.ts';
import type { Membership } from '../../domains/trail/sessions.ts';
import { parseId } from '../../ids.ts';
import type { Entry } from '../../integrity/index.ts';
import type { LoggedEntry, Report } from '../verify-log.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

/** A place in a session that an entry says it has. */
interface Claim extends Membership {
  readonly index: number;
  /** A thought has its place in its own row. */
  readonly isThought: boolean;
}

/** Checks the places that the entries of one page claim. Returns how many of them session_events has to have. */
export async function checkPlaces(reader: Reader, entries: readonly LoggedEntry[], report: Report): Promise<number> {
  const bySession = new Map<string, Claim[]>();
  let count = 0;
  for (const { index, entry } of entries) {
    for (const place of placesOf(entry)) {
      if (!isPlace(place)) {
        report(`entry ${index}`, 'names no place in a session');
        continue;
      }
      const { session_id, session_seq } = place;
      const claims = bySession.get(session_id) ?? [];
      const isThought = entry.kind === 'thought';
      if (claims.push({ index, session_id, session_seq, isThought }) === 1) bySession.set(session_id, claims);
      if (!isThought) count += 1;
    }
  }
  for (const [sessionId, claims] of bySession) {
    await checkOpen(reader, sessionId, claims, report);
    for (const run of runs(claims.filter(({ isThought }) => !isThought))) await checkRun(reader, run, report);
  }
  return count;
}

function placesOf(entry: Entry): readonly unknown[] {
  if (entry.kind === 'thought') return [entry];
  return Array.isArray(entry['sessions']) ? entry['sessions'] : [];
}

function isPlace(place: unknown): place is Membership {
  if (typeof place !== 'object' || place === null) return false;
  const { session_id, session_seq } = place as Partial<Record<string, unknown>>;
  return typeof session_id === 'string' && /^A-\d{4,}$/.test(session_id) && Number.isSafeInteger(session_seq);
}

/** A sealed session takes nothing more. */
async function checkOpen(reader: Reader, sessionId: string, claims: readonly Claim[], report: Report): Promise<void> {
  const [session] = await reader.query<{ finalized_idx: number | null }>(
    'SELECT finalized_idx FROM sessions WHERE session_no = $1',
    [parseId(sessionId)],
  );
  const sealedAt = session?.finalized_idx ?? Number.POSITIVE_INFINITY;
  const late = claims.find(({ index }) => index > sealedAt);
  if (late !== undefined) report(`entry ${late.index}`, `joined ${sessionId} after it was sealed`);
}

/** Places that follow each other are asked for at once. */
function runs(claims: readonly Claim[]): Claim[][] {
  const found: Claim[][] = [];
  for (const claim of claims) {
    const last = found.at(-1);
    if (last !== undefined && (last.at(-1)?.session_seq ?? 0) + 1 === claim.session_seq) last.push(claim);
    else found.push([claim]);
  }
  return found;
}

async function checkRun(reader: Reader, run: readonly Claim[], report: Report): Promise<void> {
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
      report(`${session_id} record ${session_seq}`, 'is not the entry that claims this place');
  }
}
