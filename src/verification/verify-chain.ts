import type { Reader } from '../db/database.ts';
import { currentVersion, listCurrentRows, type StoredVersion } from '../domains/tasks/versions.ts';
import { countRecords, readRecords, type SessionRecord } from '../domains/trail/session-tree.ts';
import { findSession, listCoveringSessions, type SessionRow } from '../domains/trail/sessions.ts';
import { formatSessionId, formatTaskId, parseId } from '../ids.ts';
import { isTaskId, parseEntry } from '../integrity/index.ts';
import { isAfter } from '../ledger/cursor.ts';
import { ChainCheck, type LinkedThought, type StoredEvent } from './chain-check.ts';
import type { BrokenLink } from './chain-report.ts';
import { type ChainSource, proveChain, proveSession } from './fast/chain.ts';
import { startHashWorker } from './fast/hash-worker-client.ts';
import type { RecordCounter } from './fast/record-counter.ts';
import { type Progress, verifyInPasses } from './hashing.ts';
import { LastLinkCache } from './last-link-cache.ts';
import { LeafCheck } from './leaf-check.ts';
import { countLogged } from './logged-records.ts';
import { RedactionFinder } from './redactions/finder.ts';
import { strictReader } from './strict-reader.ts';

export interface ChainReport {
  readonly total: number;
  readonly defective: number;
  /** Records that the fast path proved. */
  readonly proven: number;
  /** Records whose content people have removed: their entries hold, what they said is not known. */
  readonly redacted: number;
  /** At most 500. */
  readonly broken: readonly BrokenLink[];
  readonly brokenTotal: number;
  readonly trace: readonly { readonly position: number; readonly record: string; readonly hash: string }[];
}

export interface ChainOptions {
  readonly withTrace: boolean;
  readonly progress: Progress;
  readonly start?: typeof startHashWorker;
  /** False: the reference checks every record. Must report the same. */
  readonly useFastPath?: boolean;
  /** What earlier verifications of this process have read of the log. */
  readonly recordCounter?: RecordCounter;
}

const LINKED = `
  SELECT thoughts.*, ledger_entries.entry,
         before.hash AS before_hash, before.chain_position AS before_position
  FROM thoughts
  LEFT JOIN ledger_entries ON ledger_entries.idx = thoughts.idx
  LEFT JOIN thoughts AS before
    ON before.task_no = thoughts.task_no AND before.chain_position = thoughts.chain_position - 1`;

const PAGE = 1000;

/** Verifies the chain of one task, link by link, and the sessions of its records. */
export async function verifyTaskChain(db: Reader, taskNo: number, options: ChainOptions): Promise<ChainReport> {
  const count = await countLinks(strictReader(db), taskNo);
  return verifyRecords(db, count.links, options, (checking) => checkChain(checking, taskNo, count));
}

/** Verifies every record of one session, thoughts and task events, and the session itself. */
export async function verifySession(
  db: Reader,
  { session_no }: SessionRow,
  options: ChainOptions,
): Promise<ChainReport> {
  // The caller's row may come from a driver that cuts texts.
  const session = await findSession(strictReader(db), formatSessionId(session_no));
  if (session === undefined) throw new Error(`session ${session_no} vanished`);
  return verifyRecords(db, session.record_count, options, (checking) => checkSession(checking, session));
}

interface Checking {
  readonly source: ChainSource;
  readonly check: ChainCheck;
  readonly progress: Progress;
  readonly useFastPath: boolean;
}

/** Each record has a hash and a digest and comes with at least three entries. */
const HASHES_PER_RECORD = 8;

function verifyRecords(
  anyDb: Reader,
  count: number,
  { withTrace, progress, start = startHashWorker, useFastPath = true, recordCounter }: ChainOptions,
  checkAll: (checking: Checking) => Promise<void>,
): Promise<ChainReport> {
  const db = strictReader(anyDb);
  const job = { hashes: count * HASHES_PER_RECORD, size: 0 };
  return verifyInPasses(job, start, progress, async (pass) => {
    const { hasher } = pass;
    const [leaves, links, redactions] = [new LeafCheck(db), new LastLinkCache(db), new RedactionFinder(db)];
    const log = useFastPath ? await recordCounter?.read(db) : undefined;
    const source: ChainSource = { db, hasher, leaves, links, redactions, log };
    const check = new ChainCheck(source, withTrace);
    await checkAll({ source, check, progress: pass.progress, useFastPath });
    await hasher.finish();
    return check;
  });
}

async function checkChain(
  { source, check, progress, useFastPath }: Checking,
  taskNo: number,
  { links, areNumbered }: LinkCount,
): Promise<void> {
  const { db, hasher } = source;
  const sessions = new Map((await listCoveringSessions(db, taskNo)).map((session) => [session.session_no, session]));
  for (let after = areNumbered ? 0 : Number.MIN_SAFE_INTEGER; ; ) {
    const next = Math.min(after + PAGE, links);
    const proven = areNumbered && useFastPath ? await acceptProven(source, taskNo, after, next, check) : undefined;
    const page: readonly Position[] = proven ?? (await checkLinks(db, taskNo, after, check));
    const last = page.at(-1);
    if (last === undefined) break;
    for (const link of page) if (!sessions.has(link.session_no)) await addSession(db, sessions, link, check);
    await hasher.drain();
    if (hasher.isRefuted) return;
    progress(check.total, links);
    if (!isAfter([last.chain_position], [after])) break;
    after = last.chain_position;
  }
  if (check.total !== links) {
    const problem = 'has links that share a position or have none';
    check.fail({ position: check.total, record: formatTaskId(taskNo), layer: 'link', problem }, check.total, links);
  }
  for (const session of sessions.values()) await check.session(session);
  // A chain that was cut at its end is valid link by link; only the log shows its length.
  const logged = await countLoggedLinks(source, check, taskNo);
  if (logged !== check.total) {
    const problem = 'its chain has a different length in the log';
    check.fail({ position: check.total, record: formatTaskId(taskNo), layer: 'entry', problem }, logged, check.total);
  }
}

interface LinkCount {
  readonly links: number;
  /** True if the positions can be 1 to `links`. */
  readonly areNumbered: boolean;
}

async function countLinks(db: Reader, taskNo: number): Promise<LinkCount> {
  const [row] = await db.query<{ links: number; first: number | null; last: number | null }>(
    `SELECT COUNT(*) AS links, MIN(chain_position) AS first, MAX(chain_position) AS last FROM thoughts
     WHERE task_no = $1`,
    [taskNo],
  );
  const links = row?.links ?? 0;
  return { links, areNumbered: row?.first === 1 && row.last === links };
}

type Position = Pick<LinkedThought, 'chain_position' | 'session_no'>;

/** Returns undefined if one of the links is not proven: the reference then checks all of them. */
async function acceptProven(
  source: ChainSource,
  taskNo: number,
  after: number,
  last: number,
  check: ChainCheck,
): Promise<Position[] | undefined> {
  const thoughts = await proveChain(source, taskNo, after, last);
  for (const thought of thoughts ?? []) check.acceptProven(thought);
  return thoughts?.map(({ position, sessionNo }) => ({ chain_position: position, session_no: sessionNo }));
}

async function checkLinks(db: Reader, taskNo: number, after: number, check: ChainCheck): Promise<Position[]> {
  const page = await db.query<LinkedThought>(
    `${LINKED} WHERE thoughts.task_no = $1 AND thoughts.chain_position > $2 ORDER BY thoughts.chain_position LIMIT $3`,
    [taskNo, after, PAGE],
  );
  for (const thought of page) await check.thought(thought);
  return page;
}

async function checkSession(checking: Checking, session: SessionRow): Promise<void> {
  const { source, check, progress } = checking;
  const { db, hasher } = source;
  for await (const page of readRecords(db, session.session_no)) {
    await checkRecords(checking, session, page);
    await hasher.drain();
    if (hasher.isRefuted) return;
    progress(check.total, session.record_count);
  }
  const record = formatSessionId(session.session_no);
  if (check.total !== session.record_count) {
    const problem = 'has a different number of records than its record_count';
    check.fail({ position: check.total, record, layer: 'session', problem }, session.record_count, check.total);
  }
  // Two tables have its records: a page may end between two that share a position.
  const stored = await countRecords(db, session.session_no);
  if (check.total !== stored) {
    const problem = 'has records that share a position or have none';
    check.fail({ position: check.total, record, layer: 'session', problem }, check.total, stored);
  }
  const logged = await countLoggedRecords(source, check, session.session_no);
  if (check.total !== logged) {
    const problem = 'has a different number of records in the log';
    check.fail({ position: check.total, record, layer: 'entry', problem }, logged, check.total);
  }
  await check.session(session);
}

async function checkRecords(
  { source, check, useFastPath }: Checking,
  session: SessionRow,
  page: readonly SessionRecord[],
): Promise<void> {
  const first = page[0]?.session_seq ?? 0;
  const last = page.at(-1)?.session_seq ?? 0;
  const isNumbered = useFastPath && page.every(({ session_seq }, offset) => session_seq === check.total + 1 + offset);
  const proven = isNumbered ? await proveSession(source, session.session_no, first, last) : undefined;
  const provenBySeq = new Map(proven?.map((thought) => [thought.sessionSeq, thought]));
  const range = [session.session_no, first, last];
  const between = 'session_no = $1 AND thoughts.session_seq >= $2 AND thoughts.session_seq <= $3';
  const thoughts =
    proven === undefined ? await source.db.query<LinkedThought>(`${LINKED} WHERE thoughts.${between}`, range) : [];
  const unproven = page.filter(({ session_seq }) => !provenBySeq.has(session_seq));
  const events = await listEvents(source.db, session.session_no, unproven);
  const thoughtBySeq = new Map(thoughts.map((thought) => [thought.session_seq, thought]));
  const eventByIndex = new Map(events.map((event) => [event.idx, event]));
  for (const record of page) {
    const thoughtProven = provenBySeq.get(record.session_seq);
    if (thoughtProven !== undefined) {
      check.acceptProven(thoughtProven);
      continue;
    }
    checkMembership(check, session, record);
    const thought = thoughtBySeq.get(record.session_seq);
    if (thought === undefined) await check.taskEvent(record, eventByIndex.get(record.idx));
    else await check.thought(thought);
  }
}

/** The versions of tasks in a page of records, from either table. */
async function listEvents(
  db: Reader,
  sessionNo: number,
  page: readonly SessionRecord[],
): Promise<(StoredEvent & { readonly idx: number })[]> {
  if (page.length === 0) return [];
  const earlier = await db.query<StoredVersion>(
    `SELECT task_versions.idx, task_no, salt, content FROM session_events
     JOIN task_versions ON task_versions.idx = session_events.idx
     WHERE session_no = $1 AND session_seq >= $2 AND session_seq <= $3`,
    [sessionNo, page[0]?.session_seq ?? 0, page.at(-1)?.session_seq ?? 0],
  );
  const taskNos = page.flatMap(({ entry }) => {
    const logged = parseEntry(entry ?? '');
    const id = logged?.kind.startsWith('task.') ? logged['task_id'] : undefined;
    return typeof id === 'string' && isTaskId(id) ? [parseId(id)] : [];
  });
  const current = (await listCurrentRows(db, [...new Set(taskNos)])).map(currentVersion);
  return [...current, ...earlier];
}

/** Records are numbered without a gap, so that none can be removed, and each entry names its number. */
function checkMembership(
  check: ChainCheck,
  session: SessionRow,
  { session_seq: position, idx, entry }: SessionRecord,
): void {
  const expected = check.total + 1;
  const record = `entry ${idx}`;
  if (position !== expected)
    check.fail({ position, record, layer: 'session', problem: 'leaves a gap before it' }, expected, position);
  const sessionId = formatSessionId(session.session_no);
  const logged = parseEntry(entry ?? '');
  const listed = logged?.kind === 'thought' ? [logged] : logged?.['sessions'];
  const memberships = Array.isArray(listed) ? (listed as readonly Readonly<Record<string, unknown>>[]) : [];
  const membership = memberships.find((candidate) => candidate['session_id'] === sessionId);
  if (membership?.['session_seq'] !== position) {
    const problem = 'the log gives it another position';
    check.fail({ position, record, layer: 'session', problem }, membership?.['session_seq'], position);
  }
}

async function addSession(
  db: Reader,
  sessions: Map<number, SessionRow>,
  { session_no, chain_position: position }: Position,
  check: ChainCheck,
): Promise<void> {
  const record = formatSessionId(session_no);
  const session = await findSession(db, record);
  if (session === undefined)
    check.fail({ position, record, layer: 'session', problem: 'is missing' }, session_no, null);
  else sessions.set(session_no, session);
}

/** Without a reading of the log, or if it shows another length or something else is wrong, the reference counts. */
async function countLoggedLinks({ db, log }: ChainSource, check: ChainCheck, taskNo: number): Promise<number> {
  const isProven = check.brokenTotal === 0 && log?.thoughtsOf(taskNo) === check.total;
  return isProven ? check.total : countLogged(db, 'task_id', formatTaskId(taskNo));
}

async function countLoggedRecords({ db, log }: ChainSource, check: ChainCheck, sessionNo: number): Promise<number> {
  const isProven = check.brokenTotal === 0 && log?.recordsOf(sessionNo) === check.total;
  return isProven ? check.total : countLogged(db, 'session_id', formatSessionId(sessionNo));
}
