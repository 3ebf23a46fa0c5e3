import type { Reader } from '../../db/database.ts';
import { findObservation, listObservationsAfter, type ObservationRow } from '../../domains/evidence/observations.ts';
import { listWorkAfterReview } from '../../domains/evidence/observed-work.ts';
import { readEvidence } from '../../domains/evidence/repository.ts';
import { listCurrentRows } from '../../domains/tasks/versions.ts';
import { isOpen } from '../../domains/tasks/workflows.ts';
import { listThoughtsAfter } from '../../domains/trail/repository.ts';
import {
  type Entry,
  entryDefect,
  type Json,
  observedContentDefect,
  parseEntry,
  parseJson,
} from '../../integrity/index.ts';
import { findLastIndex, scanCalls } from '../../ledger/calls/scan.ts';
import { callsOfTask, createTaskFinder, type LoggedCall } from '../query/call-task.ts';
import { describeThought } from '../views/show-data.ts';
import type {
  CallEvent,
  CommitEvent,
  DecisionEvent,
  ObservedEvent,
  TimelineEvent,
  UnreadableEvent,
  UsageEvent,
} from './events.ts';
import { mergeByEntry } from './merge.ts';

/** Rows of one statement. A timeline of any length needs the memory of a few pages. */
const PAGE = 500;

export interface EventSources {
  readonly task_id: string;
  readonly task_no: number;
  /** Leaves out calls and decisions. */
  readonly onlyObserved: boolean;
}

/** Yields everything that happened to a task, in the order of the log. */
export function readEvents(db: Reader, { task_id, task_no, onlyObserved }: EventSources): AsyncIterable<TimelineEvent> {
  const said = onlyObserved ? [] : [readCalls(db, task_id), readDecisions(db, task_no)];
  return mergeByEntry<TimelineEvent>([...said, readObservations(db, task_no), readAfterReview(db, task_no)]);
}

/** What an agent ran and edited between review and done: it counts for the task, though the session held none. */
async function* readAfterReview(db: Reader, taskNo: number): AsyncGenerator<Reported, void> {
  const [task] = await listCurrentRows(db, [taskNo]);
  const end = task === undefined || isOpen(task.status) ? Number.POSITIVE_INFINITY : task.event_idx;
  for (const index of await listWorkAfterReview(db, taskNo)) {
    if (index > end) return;
    const row = await findObservation(db, index);
    if (row === undefined) continue;
    const event = describeObservation(row);
    yield event.kind === 'observed' ? { ...event, after_review: true } : event;
  }
}

async function* readCalls(db: Reader, taskId: string): AsyncGenerator<CallEvent, void> {
  const { from, ...conditions } = await callsOfTask(db, taskId);
  const range = { from, to: await findLastIndex(db), direction: 'forward' } as const;
  const findTaskOf = createTaskFinder(db);
  for await (const scanned of scanCalls(db, conditions, range)) {
    const call = await findTaskOf(scanned);
    if (call.task_id === taskId) yield describeCall(call);
  }
}

function describeCall(call: LoggedCall): CallEvent {
  const { sequence_no, entered_at, actor, tool, outcome, exited_at, duration_ms } = call;
  const times = { exited_at, duration_ms };
  return {
    kind: 'call',
    entry: sequence_no,
    at: entered_at,
    actor,
    tool,
    outcome,
    ...times,
    arguments: call.arguments,
  };
}

async function* readDecisions(db: Reader, taskNo: number): AsyncGenerator<DecisionEvent, void> {
  const { items } = await readEvidence(db, taskNo);
  const rows = readPages(
    (position) => listThoughtsAfter(db, taskNo, position, PAGE),
    ({ chain_position }) => chain_position,
  );
  for await (const row of rows) {
    const { recorded_at: at, recorded_by: actor, ...thought } = describeThought(row);
    const evidence = items
      .filter((item) => item.thought_id === thought.thought_id)
      .map(({ thought_id: _id, ...item }) => item);
    yield { kind: 'decision', entry: row.idx, at, actor, ...thought, evidence };
  }
}

type Reported = ObservedEvent | CommitEvent | UsageEvent | UnreadableEvent;

async function* readObservations(db: Reader, taskNo: number): AsyncGenerator<Reported, void> {
  const rows = readPages(
    (index) => listObservationsAfter(db, taskNo, index, PAGE),
    ({ idx }) => idx,
  );
  for await (const row of rows) yield describeObservation(row);
}

/** The grammar guarantees the fields of the entry and of the content. */
export function describeObservation({ idx, entry: text, content }: ObservationRow): Reported {
  const entry = parseEntry(text ?? '');
  const { at = '', actor = '', kind } = entry ?? {};
  const happened = { entry: idx, at, actor };
  if (entry === undefined || !isReportKind(kind) || isBroken(entry, kind, content))
    return { kind: 'unreadable', ...happened };
  const readable = parseJson(content) as Readonly<Record<string, Json>>;
  const [name, fields] = REPORTS[kind];
  const known = kind === 'observed' ? { content: readable } : readable;
  return { kind: name, ...happened, ...pick(entry, fields), ...known } as unknown as Reported;
}

function isReportKind(kind: string | undefined): kind is keyof typeof REPORTS {
  return kind !== undefined && Object.hasOwn(REPORTS, kind);
}

function isBroken(entry: Entry, kind: keyof typeof REPORTS, content: string): boolean {
  return entryDefect(entry) !== undefined || observedContentDefect(kind, content) !== undefined;
}

const OBSERVED = [
  'client',
  'client_version',
  'session',
  'agent',
  'model',
  'event',
  'phase',
  'tool',
  'action',
  'call_id',
  'outcome',
  'exit_code',
  'duration_ms',
] as const;
const COMMIT = ['sha', 'tree', 'parents', 'rewrites'] as const;
const USAGE = [
  'client',
  'session',
  'agent',
  'model',
  'responses',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
] as const;

/** The kinds of entries that belong to a task, with the name and the fields of their events. */
const REPORTS = {
  observed: ['observed', OBSERVED],
  'observed.commit': ['commit', COMMIT],
  'observed.usage': ['usage', USAGE],
} as const satisfies Partial<Record<Entry['kind'], readonly [TimelineEvent['kind'], readonly string[]]>>;

function pick(entry: Entry, names: readonly string[]): object {
  return Object.fromEntries(names.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name]]])));
}

/** Yields the rows of one page after the other. */
async function* readPages<Row>(
  readAfter: (place: number) => Promise<Row[]>,
  placeOf: (row: Row) => number,
): AsyncGenerator<Row, void> {
  let last = -1;
  for (;;) {
    const rows = await readAfter(last);
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE) return;
    last = placeOf(end);
  }
}
