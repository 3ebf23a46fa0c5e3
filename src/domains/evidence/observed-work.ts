import type { Reader } from '../../db/database.ts';
import { commitKey, parseJson, type Salt } from '../../integrity/index.ts';
import type { ObservedRun } from './compare.ts';

/** A command whose text only a digest covers, as with COLIBRI_RECORD=digests. */
export interface HiddenRun extends Omit<ObservedRun, 'command'> {
  readonly salt: Salt;
  /** The digest of the input of the tool. */
  readonly input: string;
}

export interface ObservedEdit {
  readonly entry: number;
  readonly at: string;
}

/** What was observed for a task. */
export interface ObservedWork {
  readonly runs: readonly ObservedRun[];
  readonly hiddenRuns: readonly HiddenRun[];
  /** Changes of files by the tools of a client. What commands change is not known. */
  readonly edits: readonly ObservedEdit[];
  /** The commits that were recorded for the task, oldest first. */
  readonly commits: readonly RecordedCommit[];
  /** The number of observations of the task. Only the newest are read. */
  readonly total: number;
  readonly isCut: boolean;
}

export interface RecordedCommit {
  readonly entry: number;
  readonly at: string;
  readonly sha: string;
  /** Its parents, and the commit that it replaced. */
  readonly names: readonly string[];
}

/** Enough for weeks of work on one task; more would make every look at it slow. */
const MAX_OBSERVATIONS = 5000;

/** An abbreviated hash is looked up in this many observations of the ledger, whose commits have no index of their own. */
const MAX_OTHERS = 2000;

/** Reads the newest observations of a task: bounded, and by an index. */
export async function readObservedWork(db: Reader, taskNo: number, limit = MAX_OBSERVATIONS): Promise<ObservedWork> {
  const rows = await db.query<ObservationRow>(OF_TASK, [taskNo, limit]);
  const [{ total } = { total: 0 }] = await db.query<{ total: number }>(COUNT_OF_TASK, [taskNo]);
  const own = rows.reverse().flatMap(toObservation);
  const later = await listReleased(db, own);
  const all = [...own, ...later];
  const shells = all.filter(isRun);
  return {
    runs: shells.flatMap((row) => (row.command === undefined ? [] : [toRun(row, row.command)])),
    hiddenRuns: shells.flatMap((row) => (row.command === undefined ? toHidden(row) : [])),
    edits: all.filter(isEdit).map(({ entry, fields }) => ({ entry, at: fields.at })),
    commits: own.flatMap(({ entry, fields }) => toCommit(entry, fields)),
    total,
    isCut: total > limit,
  };
}

/** The newest commits of the ledger, of whichever task, oldest first. */
export async function listCommits(db: Reader): Promise<RecordedCommit[]> {
  const rows = await db.query<ObservationRow>(NEWEST_COMMITS, [MAX_OTHERS - 1]);
  return rows
    .reverse()
    .flatMap(toObservation)
    .flatMap(({ entry, fields }) => toCommit(entry, fields));
}

/** A commit by its full hash, however old it is. */
export async function findCommit(db: Reader, sha: string): Promise<RecordedCommit | undefined> {
  const rows = await db.query<ObservationRow>(BY_KEY, [commitKey(sha)]);
  return rows.flatMap(toObservation).flatMap(({ entry, fields }) => toCommit(entry, fields))[0];
}

interface ObservationRow {
  readonly idx: number;
  readonly entry: string;
  readonly salt: Salt;
  readonly content: string;
}

/** A subquery for each row: PostgreSQL would otherwise join with the whole log. */
const ENTRY = '(SELECT entry FROM ledger_entries WHERE ledger_entries.idx = observations.idx) AS entry';
const select = (rows: string) => `SELECT observations.idx, ${ENTRY}, salt, content FROM observations WHERE ${rows}`;

const OF_TASK = select('task_no = $1 ORDER BY idx DESC LIMIT $2');
const COUNT_OF_TASK = 'SELECT COUNT(*) AS total FROM observations WHERE task_no = $1';
const BY_KEY = select('key = $1');
const AFTER = select('idx > $1 ORDER BY idx LIMIT $2');
/** A quote inside a text is escaped, so only the field of a commit matches. */
const NEWEST_COMMITS = select(
  `idx >= COALESCE((SELECT idx FROM observations ORDER BY idx DESC LIMIT 1 OFFSET $1), 0)
   AND content LIKE '%"paths":[%' ORDER BY idx DESC`,
);

interface Fields {
  readonly at: string;
  readonly kind: string;
  readonly session?: string;
  readonly action?: string;
  readonly phase?: string;
  readonly outcome?: string;
  readonly exit_code?: number;
  readonly duration_ms?: number;
  readonly task_id?: string;
  readonly session_task?: string;
  readonly input?: string;
  readonly sha?: string;
  readonly parents?: readonly string[];
  readonly rewrites?: string;
}

interface Observed {
  readonly entry: number;
  readonly fields: Fields;
  readonly salt: Salt;
  /** Undefined if it is not stored, or only a part of it. */
  readonly command: string | undefined;
}

/** Verification reports rows that cannot be read; they are evidence of nothing. */
function toObservation({ idx, entry, salt, content }: ObservationRow): Observed[] {
  try {
    return [{ entry: idx, fields: parseJson(entry) as Fields, salt, command: readCommand(content) }];
  } catch {
    return [];
  }
}

/** From this length on, a command of a cut content may be cut itself. */
const CUT_LENGTH = 2048;

function readCommand(content: string): string | undefined {
  const { command, cut } = parseJson(content) as { readonly command?: unknown; readonly cut?: unknown };
  if (typeof command !== 'string') return undefined;
  return cut === true && command.length >= CUT_LENGTH ? undefined : command;
}

/** A command that was only announced is not a run. */
function isRun({ fields: { action, phase } }: Observed): boolean {
  return action === 'shell' && (phase === 'after' || phase === 'failed');
}

function isEdit({ fields: { action, phase, outcome } }: Observed): boolean {
  return action === 'edit' && phase === 'after' && outcome !== 'failed';
}

function toRun({ entry, fields }: Observed, command: string): ObservedRun {
  return { ...exitOf(entry, fields), command };
}

function toHidden({ entry, fields, salt }: Observed): HiddenRun[] {
  return typeof fields.input === 'string' ? [{ ...exitOf(entry, fields), salt, input: fields.input }] : [];
}

function exitOf(entry: number, { at, exit_code, outcome, duration_ms }: Fields): Omit<ObservedRun, 'command'> {
  const known = outcome === 'ok' || outcome === 'failed' ? outcome : 'unknown';
  const begunAt = new Date(Date.parse(at) - (duration_ms ?? 0)).toISOString();
  return { entry, at, begunAt, exitCode: exit_code ?? null, outcome: known };
}

function toCommit(entry: number, { kind, at, sha, parents = [], rewrites }: Fields): RecordedCommit[] {
  if (kind !== 'observed.commit' || sha === undefined) return [];
  const names = [...parents, ...(rewrites === undefined ? [] : [rewrites])].map((name) => name.toLowerCase());
  return [{ entry, at, sha: sha.toLowerCase(), names }];
}

const MAX_RELEASES = 4;
const MAX_LATER = 1000;

/**
 * What sessions did after they brought the task to review and before they took another one. Such an event belongs to no
 * task, but a run of the tests before `done` is about the task that the session has just worked on.
 */
async function listReleased(db: Reader, own: readonly Observed[]): Promise<Observed[]> {
  const releases = own.filter(({ fields }) => fields.kind === 'observed' && fields.session_task === undefined);
  const later = new Map<number, Observed>();
  for (const { entry, fields } of releases.slice(-MAX_RELEASES)) {
    const rows = await db.query<ObservationRow>(AFTER, [entry, MAX_LATER]);
    for (const observed of rows.flatMap(toObservation)) {
      if (observed.fields.session !== fields.session) continue;
      if (observed.fields.task_id !== undefined) break;
      later.set(observed.entry, observed);
    }
  }
  return [...later.values()];
}
