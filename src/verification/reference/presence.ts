import type { Reader } from '../../db/database.ts';
import { parseEntry } from '../../integrity/index.ts';
import { isAfter } from '../../ledger/cursor.ts';
import type { Report } from '../report.ts';
import { STORED_TWICE } from './unique-rows.ts';

/** What the log says about the calls that must have a row. */
export interface RequiredCalls {
  readonly open: readonly number[];
  /** The newest calls of some actors. */
  readonly lastCalls: readonly number[];
}

interface PresenceRow {
  readonly sequence_no: number;
  readonly actor: string;
  readonly clock_id: unknown;
  readonly clock_ms: unknown;
  readonly entry: string | null;
}

const PAGE = 500;
/** Bounds the report: a forger can add a million rows. */
const MAX_NAMED = 10;

/**
 * Every row must belong to an enter entry of its actor, and every required call must have a row. Further rows may be
 * there: the last calls of other processes of an actor. The clock of a row is not evidence, see docs/trust.md.
 */
export async function checkPresence(reader: Reader, { open, lastCalls }: RequiredCalls, report: Report): Promise<void> {
  const missing = new Set([...open, ...lastCalls]);
  let named = 0;
  let read = 0;
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await reader.query<PresenceRow>(
      `SELECT sequence_no, actor, clock_id, clock_ms, entry FROM presence
       LEFT JOIN ledger_entries ON ledger_entries.idx = presence.sequence_no
       WHERE sequence_no > $1 ORDER BY sequence_no LIMIT $2`,
      [last, PAGE],
    );
    read += rows.length;
    for (const [offset, row] of rows.entries()) {
      const { sequence_no } = row;
      missing.delete(sequence_no);
      const isTwice = offset > 0 && rows[offset - 1]?.sequence_no === sequence_no;
      const problem = isTwice ? STORED_TWICE : defectOf(row);
      if (problem !== undefined && named++ < MAX_NAMED) report(`call ${sequence_no}`, problem);
    }
    const next = rows.at(-1)?.sequence_no;
    if (next === undefined || !isAfter([next], [last])) break;
    last = next;
  }
  const [counted] = await reader.query<{ rows: number }>('SELECT COUNT(*) AS rows FROM presence');
  if (counted?.rows !== read) report('presence', `has ${counted?.rows} rows and ${read} usable keys`);
  for (const sequenceNo of missing) report(`call ${sequenceNo}`, 'is not listed in presence');
}

function defectOf({ actor, clock_id, clock_ms, entry: text }: PresenceRow): string | undefined {
  const entry = parseEntry(typeof text === 'string' ? text : '');
  if (entry?.kind !== 'action.enter') return 'is listed in presence and has no enter entry';
  if (entry.actor !== actor) return 'is listed in presence under another actor';
  if (clock_id === null && clock_ms === null) return undefined;
  const isClock = typeof clock_id === 'string' && CLOCK_ID.test(clock_id) && Number.isSafeInteger(clock_ms);
  return isClock ? undefined : 'is listed in presence with a time of no clock';
}

/** The boot of a machine, a platform whose boot is unknown, or the clock of the database. */
const CLOCK_ID = /^(?:[0-9a-f]{12}|database|aix|android|cygwin|darwin|freebsd|haiku|linux|netbsd|openbsd|sunos|win32)$/;
