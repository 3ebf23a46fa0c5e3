import type { Reader } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import { type Entry, parseEntry, parseJson } from '../../integrity/index.ts';
import type { Usage, UsageCounts } from './usage.ts';

/** The latest comparison of a session, or of one of its sub-agents, with the transcript of its client. */
export interface CoverageReport {
  readonly entry: number;
  readonly at: string;
  readonly client: string;
  readonly session: string;
  /** The sub-agent; null for the session itself. */
  readonly agent: string | null;
  /** Calls in the transcript. */
  readonly seen: number;
  /** Calls of the transcript that are in the log. */
  readonly recorded: number;
  /** The ids of the other calls, at most 1,000. */
  readonly missing: readonly string[];
  /** Why the transcript was not read, or not as a whole; null if it was. */
  readonly defect: string | null;
}

export interface UsageReport extends Usage {
  readonly client: string;
  readonly session: string;
  readonly agent: string | null;
}

/** Some calls of the session are not in the log, or it is not known whether they are. */
export function hasGap({ seen, recorded, defect }: CoverageReport): boolean {
  return recorded < seen || defect !== null;
}

/** The coverage of every session that stopped, the one reported last first. */
export async function listCoverage(reader: Reader): Promise<CoverageReport[]> {
  return latestCoverage(await listReports(reader));
}

/** The coverage of the sessions that worked on a task. */
export async function listTaskCoverage(reader: Reader, taskNo: number): Promise<CoverageReport[]> {
  const session = dialectOf(reader).member('entry', 'session');
  const rows = await reader.query<{ session: string | null }>(
    `SELECT DISTINCT ${session} AS session
     FROM observations JOIN ledger_entries ON ledger_entries.idx = observations.idx WHERE task_no = $1`,
    [taskNo],
  );
  const reports: StoredReport[] = [];
  for (const { session: name } of rows) if (name !== null) reports.push(...(await listReports(reader, name)));
  return latestCoverage(reports.toSorted((one, other) => one.index - other.index));
}

/** What all sessions reported about their tokens, in log order. */
export async function listUsage(reader: Reader): Promise<UsageReport[]> {
  return usageOf(await listReports(reader));
}

/** One coverage or usage entry with its content. */
export interface StoredReport {
  readonly index: number;
  readonly entry: Entry;
  readonly content: string;
}

/** The reports of a session, or of all, in log order. */
export async function listReports(reader: Reader, session?: string): Promise<StoredReport[]> {
  const [where, parameters] =
    session === undefined ? ['report_session IS NOT NULL', []] : ['report_session = $1', [session]];
  const rows = await reader.query<{ idx: number; entry: string; content: string }>(
    `SELECT observations.idx AS idx, entry, observations.content AS content
     FROM observations JOIN ledger_entries ON ledger_entries.idx = observations.idx
     WHERE ${where} ORDER BY observations.idx`,
    parameters,
  );
  return rows.flatMap(({ idx, entry: text, content }) => {
    const entry = parseEntry(text);
    return entry === undefined ? [] : [{ index: idx, entry, content }];
  });
}

export function usageOf(reports: readonly StoredReport[]): UsageReport[] {
  return reports
    .filter(({ entry }) => entry.kind === 'observed.usage')
    .map(({ entry }) => ({
      ...(entry as unknown as UsageCounts),
      ...sessionOf(entry),
      model: entry['model'] as string,
      taskId: (entry['task_id'] as string | undefined) ?? null,
    }));
}

export function latestCoverage(reports: readonly StoredReport[]): CoverageReport[] {
  const latest = new Map<string, CoverageReport>();
  for (const { index, entry, content } of reports) {
    if (entry.kind !== 'observed.coverage') continue;
    const report = toCoverage(index, entry, content);
    const key = JSON.stringify([report.session, report.agent]);
    // Inserted again, so that the last one is the latest.
    latest.delete(key);
    latest.set(key, report);
  }
  return [...latest.values()].reverse();
}

function toCoverage(index: number, entry: Entry, content: string): CoverageReport {
  const { missing = [], defect = null } = readContent(content);
  const { at, seen, recorded } = entry as unknown as CoverageReport;
  return { entry: index, at, ...sessionOf(entry), seen, recorded, missing, defect };
}

/** Only tampering stores content that is no JSON; verification reports it. */
function readContent(content: string): Partial<Pick<CoverageReport, 'missing' | 'defect'>> {
  try {
    return parseJson(content) as object;
  } catch {
    return {};
  }
}

function sessionOf(entry: Entry): Pick<CoverageReport, 'client' | 'session' | 'agent'> {
  const { client, session, agent } = entry as unknown as { client: string; session: string; agent?: string };
  return { client, session, agent: agent ?? null };
}
