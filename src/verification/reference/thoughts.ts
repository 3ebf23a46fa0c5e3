import type { Reader } from '../../db/database.ts';
import type { ThoughtRow } from '../../domains/trail/repository.ts';
import { findSession } from '../../domains/trail/sessions.ts';
import { formatSessionId, formatThoughtId } from '../../ids.ts';
import type { Entry } from '../../integrity/index.ts';
import { checkThought } from '../chain-report.ts';
import type { LastLinkCache } from '../last-link-cache.ts';
import type { ThoughtFacts } from '../page-proof.ts';
import type { EntryRange, LoggedRedaction } from '../redactions/finder.ts';
import type { Report } from '../report.ts';
import { checkMemberships } from './memberships.ts';
import { checkSeal, checkStart } from './sessions.ts';
import type { LoggedEntry } from './stored-entries.ts';
import { indexRows, STORED_TWICE } from './unique-rows.ts';

/** Compares every thought, session and seal with the log. */
export class TrailCheck {
  readonly #reader: Reader;
  readonly #links: LastLinkCache;
  readonly #report: Report;
  readonly #seen = { thoughts: 0, sessions: 0, seals: 0, records: 0 };

  constructor(reader: Reader, links: LastLinkCache, report: Report) {
    this.#reader = reader;
    this.#links = links;
    this.#report = report;
  }

  accept(proven: readonly ThoughtFacts[]): void {
    this.#seen.thoughts += proven.length;
  }

  async page(entries: readonly LoggedEntry[], range: EntryRange): Promise<void> {
    const [reader, report, seen] = [this.#reader, this.#report, this.#seen];
    seen.records += await checkMemberships(reader, entries, report);
    seen.thoughts += await checkThoughts(reader, this.#links, entries, range, report);
    for (const { index, entry } of entries) {
      if (entry.kind === 'session.started') seen.sessions += 1;
      else if (entry.kind === 'session.finalized') seen.seals += 1;
      else continue;
      await checkSessionEntry(reader, { index, entry }, range.redactions.get(index), report);
    }
  }

  finish(): Promise<void> {
    return checkTotals(this.#reader, this.#seen, this.#report);
  }
}

async function checkThoughts(
  reader: Reader,
  links: LastLinkCache,
  entries: readonly LoggedEntry[],
  { begin, end, redactions }: EntryRange,
  report: Report,
): Promise<number> {
  if (!entries.some(({ entry }) => entry.kind === 'thought')) return 0;
  const rows = await reader.query<ThoughtRow>('SELECT * FROM thoughts WHERE idx >= $1 AND idx < $2', [begin, end]);
  const twice = (row: ThoughtRow) => report(formatThoughtId(row.thought_no), STORED_TWICE);
  const thoughts = indexRows(
    rows,
    ({ idx }) => idx,
    (index) => rows.filter(({ idx }) => idx === index).forEach(twice),
  );
  let count = 0;
  for (const { index, entry } of entries) {
    if (entry.kind !== 'thought') continue;
    count += 1;
    const row = thoughts.get(index);
    if (row === undefined) {
      report(textOf(entry, 'thought_id'), 'is missing');
      continue;
    }
    const previous = await links.read(row.task_no, row.chain_position);
    const broken = checkThought({ row, previous, entry, redaction: redactions.get(index) });
    for (const { record, layer, problem } of broken) report(record, `${layer}: ${problem}`);
    links.add(row.task_no, row);
  }
  return count;
}

function textOf(entry: Entry, field: string): string {
  const value = entry[field];
  return typeof value === 'string' ? value : `a ${entry.kind} without ${field}`;
}

async function checkSessionEntry(
  reader: Reader,
  { index, entry }: LoggedEntry,
  redaction: LoggedRedaction | undefined,
  report: Report,
): Promise<void> {
  const place = textOf(entry, 'session_id');
  const session = await findSession(reader, place);
  if (session === undefined) return report(place, 'is missing');
  const problems =
    entry.kind === 'session.started'
      ? checkStart(session, { index, entry, redaction })
      : await checkSeal(reader, session, index, entry);
  for (const { problem } of problems) report(place, problem);
}

async function checkTotals(reader: Reader, seen: Record<string, number>, report: Report): Promise<void> {
  const [rows] = await reader.query<Record<string, number>>(
    `SELECT (SELECT COUNT(*) FROM thoughts) AS thoughts, (SELECT COUNT(*) FROM sessions) AS sessions,
            (SELECT COUNT(*) FROM sessions WHERE finalized_idx IS NOT NULL) AS seals,
            (SELECT COUNT(*) FROM session_events) AS records`,
  );
  const tables = { thoughts: 'thoughts', sessions: 'sessions', seals: 'sessions', records: 'session_events' };
  for (const [kind, table] of Object.entries(tables)) {
    if (rows?.[kind] !== seen[kind]) report(table, `has ${rows?.[kind]} ${kind} where the log has ${seen[kind]}`);
  }
  await checkSessionRows(reader, report);
  const counters = await reader.query<{ name: string; value: number }>(
    "SELECT name, value FROM counters WHERE name IN ('session', 'thought')",
  );
  for (const [name, kind] of [
    ['session', 'sessions'],
    ['thought', 'thoughts'],
  ] as const) {
    const values = counters.filter((counter) => counter.name === name).map(({ value }) => value);
    if (values.length > 1) report(`counter ${name}`, STORED_TWICE);
    const value = values[0] ?? 0;
    if (value !== seen[kind]) report(`counter ${name}`, `is ${value} instead of ${seen[kind]}`);
  }
}

/** The records of a session are in both tables, numbered together from 1 without a gap. */
const RECORDS = ['thoughts', 'session_events'];
const countOf = (table: string) => `(SELECT COUNT(*) FROM ${table} WHERE ${table}.session_no = sessions.session_no)`;
const isOutside = (table: string) =>
  `EXISTS (SELECT 1 FROM ${table} WHERE ${table}.session_no = sessions.session_no AND session_seq < 1)
   OR EXISTS (SELECT 1 FROM ${table} WHERE ${table}.session_no = sessions.session_no AND session_seq > record_count)`;
const MISCOUNTED = `
  SELECT session_no FROM sessions
  WHERE record_count <> ${RECORDS.map(countOf).join(' + ')} OR ${RECORDS.map(isOutside).join(' OR ')}`;

/** Columns of sessions that no entry repeats. */
async function checkSessionRows(reader: Reader, report: Report): Promise<void> {
  const miscounted = await reader.query<{ session_no: number }>(MISCOUNTED);
  for (const { session_no } of miscounted) report(formatSessionId(session_no), 'counts its records wrongly');
  const shared = await reader.query<{ session_no: number; session_seq: number }>(
    `SELECT session_no, session_seq FROM session_events WHERE EXISTS
       (SELECT 1 FROM thoughts WHERE thoughts.session_no = session_events.session_no
                                 AND thoughts.session_seq = session_events.session_seq)`,
  );
  for (const { session_no, session_seq } of shared)
    report(`${formatSessionId(session_no)} record ${session_seq}`, 'is two records');
  const halfSealed = await reader.query<{ session_no: number }>(
    `SELECT session_no FROM sessions WHERE finalized_idx IS NULL AND
       (finalized_at IS NOT NULL OR sealed_task_no IS NOT NULL OR root IS NOT NULL OR leaf_count IS NOT NULL)`,
  );
  for (const { session_no } of halfSealed)
    report(formatSessionId(session_no), 'is not sealed, but has columns of a seal');
}
