import type { Reader } from '../../db/database.ts';
import { formatSessionId, formatTaskId, parseId } from '../../ids.ts';
import { type Entry, saltedDigest } from '../../integrity/index.ts';
import type { Projection, Report } from '../../ledger/verify.ts';
import { buildSessionTree } from './session-tree.ts';
import { findSession, type Membership, type SessionRow, sessionContent } from './sessions.ts';
import { checkEvidence, EVIDENCE, type Evidence } from './verify-chain.ts';

/** Every thought, session and seal against the log. */
export const checkTrail: Projection = (reader, report) => {
  const seen = { thoughts: 0, sessions: 0, seals: 0, records: 0 };
  return {
    async page(entries, begin, end) {
      const rows = await reader.query<Evidence>(`${EVIDENCE} WHERE thoughts.idx >= $1 AND thoughts.idx < $2`, [
        begin,
        end,
      ]);
      const thoughts = new Map(rows.map((row) => [row.idx, row]));
      for (const { index, entry } of entries) {
        for (const membership of membershipsOf(entry)) {
          seen.records += 1;
          await checkMembership(reader, index, membership, report);
        }
        if (entry.kind === 'thought') {
          seen.thoughts += 1;
          const row = thoughts.get(index);
          if (row === undefined) report(textOf(entry, 'thought_id'), 'is missing');
          else for (const { record, layer, problem } of checkEvidence(row)) report(record, `${layer}: ${problem}`);
        } else if (entry.kind === 'session.started') {
          seen.sessions += 1;
          await checkStart(reader, index, entry, report);
        } else if (entry.kind === 'session.finalized') {
          seen.seals += 1;
          await checkSeal(reader, index, entry, report);
        }
      }
    },
    finish: () => checkTotals(reader, seen, report),
  };
};

function textOf(entry: Entry, field: string): string {
  const value = entry[field];
  return typeof value === 'string' ? value : `a ${entry.kind} without ${field}`;
}

/** The places in sessions that an entry claims. */
function membershipsOf(entry: Entry): Membership[] {
  if (entry.kind === 'thought') return [entry as unknown as Membership];
  return Array.isArray(entry['sessions']) ? (entry['sessions'] as Membership[]) : [];
}

async function checkMembership(
  reader: Reader,
  index: number,
  { session_id, session_seq }: Membership,
  report: Report,
): Promise<void> {
  const [row] = await reader.query<{ idx: number; finalized_idx: number | null }>(
    `SELECT session_records.idx, sessions.finalized_idx FROM session_records
     JOIN sessions ON sessions.session_no = session_records.session_no
     WHERE session_records.session_no = $1 AND session_records.session_seq = $2`,
    [parseId(session_id), session_seq],
  );
  if (row?.idx !== index) report(`${session_id} record ${session_seq}`, 'is not the entry that claims this place');
  else if (row.finalized_idx !== null && row.finalized_idx < index)
    report(`entry ${index}`, `joined ${session_id} after it was sealed`);
}

async function checkStart(reader: Reader, index: number, entry: Entry, report: Report): Promise<void> {
  const session = await findSession(reader, textOf(entry, 'session_id'));
  if (session === undefined) return report(textOf(entry, 'session_id'), 'is missing');
  const isSame =
    session.start_idx === index &&
    formatTaskId(session.task_no) === entry['task_id'] &&
    session.scope === entry['scope'] &&
    session.started_at === entry.at &&
    session.started_by === entry.actor &&
    digestOf(session) === entry['session'];
  if (!isSame) report(textOf(entry, 'session_id'), 'differs from the entry that started it');
}

function digestOf(session: SessionRow): string | undefined {
  return /^[0-9a-f]{32}$/.test(session.salt)
    ? saltedDigest('session', session.salt, sessionContent(session))
    : undefined;
}

async function checkSeal(reader: Reader, index: number, entry: Entry, report: Report): Promise<void> {
  const session = await findSession(reader, textOf(entry, 'session_id'));
  if (session === undefined) return;
  const place = formatSessionId(session.session_no);
  const sealedTask = session.sealed_task_no === null ? undefined : formatTaskId(session.sealed_task_no);
  const isSame =
    session.finalized_idx === index &&
    session.finalized_at === entry.at &&
    session.root === entry['root'] &&
    session.leaf_count === entry['leaf_count'] &&
    sealedTask === entry['task_id'];
  if (!isSame) return report(place, 'differs from the entry that sealed it');
  const { root, leafCount } = await buildSessionTree(reader, session.session_no, session.sealed_task_no);
  if (root !== session.root || leafCount !== session.leaf_count)
    report(place, 'its records do not give its sealed root');
}

async function checkTotals(reader: Reader, seen: Record<string, number>, report: Report): Promise<void> {
  const [rows] = await reader.query<Record<string, number>>(
    `SELECT (SELECT COUNT(*) FROM thoughts) AS thoughts, (SELECT COUNT(*) FROM sessions) AS sessions,
            (SELECT COUNT(*) FROM sessions WHERE finalized_idx IS NOT NULL) AS seals,
            (SELECT COUNT(*) FROM session_records) AS records`,
  );
  const tables = { thoughts: 'thoughts', sessions: 'sessions', seals: 'sessions', records: 'session_records' };
  for (const [kind, table] of Object.entries(tables)) {
    if (rows?.[kind] !== seen[kind]) report(table, `has ${rows?.[kind]} ${kind} where the log has ${seen[kind]}`);
  }
  const miscounted = await reader.query<{ session_no: number }>(
    `SELECT session_no FROM sessions WHERE record_count <>
       (SELECT COUNT(*) FROM session_records WHERE session_records.session_no = sessions.session_no)`,
  );
  for (const { session_no } of miscounted) report(formatSessionId(session_no), 'counts its records wrongly');
  const counters = await reader.query<{ name: string; value: number }>(
    "SELECT name, value FROM counters WHERE name IN ('session', 'thought')",
  );
  for (const [name, kind] of [
    ['session', 'sessions'],
    ['thought', 'thoughts'],
  ] as const) {
    const value = counters.find((counter) => counter.name === name)?.value ?? 0;
    if (value !== seen[kind]) report(`counter ${name}`, `is ${value} instead of ${seen[kind]}`);
  }
}
