import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Reader } from '../../db/database.ts';
import { canonicalize, type Entry, type Json, RECORDER_PREFIX, saltedDigest, sha256 } from '../../integrity/index.ts';
import { createSalt } from '../../ledger/salt.ts';
import { type Observation, recordObservations } from '../record.ts';
import { findFormat } from '../transcripts/formats.ts';
import { listSubagents } from '../transcripts/open-transcript.ts';
import { readTranscript } from '../transcripts/read-transcript.ts';
import type { Transcript, TranscriptFormat } from '../transcripts/transcript.ts';
import { type Coverage, measureCoverage } from './coverage.ts';
import { type CoverageReport, latestCoverage, listReports, type StoredReport, usageOf } from './list-reports.ts';
import { countEnded, findByOrder } from './match-by-order.ts';
import { findById } from './recorded-calls.ts';
import { measureUsage, subtractReported } from './usage.ts';

/** The end of a turn, of a sub-agent or of a session, with the transcript that the client names. */
export interface Stop {
  readonly at: string;
  readonly client: string;
  readonly session: string;
  readonly agent: string | null;
  readonly transcriptPath: string;
}

/**
 * Compares the transcript of a session with the log and appends what is new: the coverage, and the tokens used since
 * the last report. May run twice for one stop, also at the same time in two processes.
 */
export async function reportSession(database: Database, stop: Stop, home: string | undefined): Promise<void> {
  const format = findFormat(stop.client);
  if (format === undefined) return;
  const subagents =
    stop.client === 'claude-code' && stop.agent === null ? await listSubagents(stop.transcriptPath) : [];
  for (const { agent, path } of [{ agent: stop.agent, path: stop.transcriptPath }, ...subagents]) {
    const transcript = await readUpToLog(database, stop.session, format, () => readTranscript(format, path, home));
    const prepare = (reader: Reader) => prepareReports(reader, { ...stop, agent }, format, transcript);
    // Most stops of a long session have something new; the others should not take the write lock.
    if ((await database.read(prepare)).length === 0) continue;
    await database.write({ durable: true }, async (db) => recordObservations(db, await prepare(db)));
  }
}

/** The pauses between the attempts to read a buffered transcript. */
const WAITS_MS = [250, 250, 500];

/** Reads a transcript again while it lacks calls that the log has. */
async function readUpToLog(
  database: Database,
  session: string,
  { isBuffered }: TranscriptFormat,
  read: () => Promise<Transcript>,
): Promise<Transcript> {
  let transcript = await read();
  if (!isBuffered) return transcript;
  const isBehind = () =>
    database.read(
      async (reader) =>
        (await findByOrder(reader, session, transcript.calls)).size < (await countEnded(reader, session)),
    );
  for (const waitMs of WAITS_MS) {
    if (!(await isBehind())) break;
    await sleep(waitMs);
    transcript = await read();
  }
  return transcript;
}

async function prepareReports(
  reader: Reader,
  stop: Stop,
  format: TranscriptFormat,
  transcript: Transcript,
): Promise<Observation[]> {
  const find = format.hasCallIds ? findById : findByOrder;
  const recorded = await find(reader, stop.session, transcript.calls);
  const all = await listReports(reader, stop.session);
  const reports = all.filter(({ entry }) => (entry['agent'] ?? null) === stop.agent);
  const coverage = measureCoverage(transcript, recorded);
  const [latest] = latestCoverage(reports);
  const usages = subtractReported(measureUsage(transcript, recorded), usageOf(reports));
  return [
    ...(isSame(coverage, latest) ? [] : [toObservation(stop, all, 'observed.coverage', { ...coverage })]),
    ...usages.map(({ taskId, ...fields }) =>
      toObservation(stop, all, 'observed.usage', {
        ...fields,
        ...(taskId !== null && { task_id: taskId }),
        content: {},
      }),
    ),
  ];
}

/** A report that says the same as the one before it is not repeated. */
function isSame({ seen, recorded, content }: Coverage, latest: CoverageReport | undefined): boolean {
  if (latest === undefined || latest.seen !== seen || latest.recorded !== recorded) return false;
  const isSameList = JSON.stringify(latest.missing) === JSON.stringify(content.missing);
  return isSameList && latest.defect === (content.defect ?? null);
}

type ReportKind = 'observed.coverage' | 'observed.usage';

function toObservation(
  { at, client, session, agent }: Stop,
  reports: readonly StoredReport[],
  kind: ReportKind,
  { content, ...fields }: { readonly content: object } & Readonly<Record<string, unknown>>,
): Observation {
  const salt = createSalt();
  const text = canonicalize(content);
  // Unlike that of every report before it, and the same if two processes report one stop.
  const identity = [
    kind,
    session,
    agent,
    fields['task_id'] ?? null,
    fields['model'] ?? null,
    reports.at(-1)?.index ?? 0,
  ];
  const entry = {
    v: 1,
    kind,
    at,
    actor: `${RECORDER_PREFIX}${client}`,
    client,
    session,
    ...(agent !== null && { agent }),
    ...(fields as Record<string, Json>),
    key: sha256(`colibri:report:v1\n${canonicalize(identity)}`).slice(0, 32),
    content: saltedDigest('observed-content', salt, text),
  } satisfies Entry;
  return { entry, salt, content: text };
}
