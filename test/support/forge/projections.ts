import type { SqlValue, Transaction } from '../../../src/db/database.ts';
import { claimAfter } from '../../../src/domains/tasks/claims/decide.ts';
import { type Task, toColumns } from '../../../src/domains/tasks/record.ts';
import { projectCounter } from '../../../src/domains/tasks/repository.ts';
import { indexWords } from '../../../src/domains/tasks/search.ts';
import { indexedWords } from '../../../src/domains/tasks/tokenizer.ts';
import { WORKFLOWS } from '../../../src/domains/tasks/workflows.ts';
import { parseId } from '../../../src/ids.ts';
import {
  canonicalize,
  claimAfterEvent,
  listAttachments,
  type OpenCalls,
  openCallsAfter,
  PRIORITIES,
  parseJson,
} from '../../../src/integrity/index.ts';
import { type Loose, placesOf, type WrittenEvent } from './event.ts';
import { storeUnmetLinks } from './unmet-links.ts';

type Columns = Readonly<Record<string, SqlValue>>;

/** Every table that is made from the log, made from forged events. */
export async function writeProjections(db: Transaction, events: readonly WrittenEvent[]): Promise<void> {
  writeCalls(db, events);
  await writeTasks(db, events);
  writeTrail(db, events);
  writeProjects(db, events);
  writeKeys(db, events);
  writeObservations(db, events);
  // Errors of what was sent are met here.
  await db.query('SELECT 1');
}

function insert(db: Transaction, table: string, columns: Columns): void {
  const names = Object.keys(columns);
  const places = names.map((_, place) => `$${place + 1}`).join(', ');
  db.send(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`, Object.values(columns));
}

const ofKind = (events: readonly WrittenEvent[], kind: string) =>
  events.filter(({ fields }) => String(fields['kind']).startsWith(kind));

function writeCalls(db: Transaction, events: readonly WrittenEvent[]): void {
  const ends = events.filter(({ enter }) => enter !== undefined);
  const present = new Map<number, string>();
  const lastCalls = new Map<string, number>();
  for (const { index, fields, entry } of ofKind(events, 'action.enter')) {
    const actor = text(entry, 'actor');
    const end = ends.find(({ enter }) => enter?.fields === fields)?.index;
    if (end === undefined) present.set(index, actor);
    else insert(db, 'call_exits', { sequence_no: index, exit_idx: end });
    lastCalls.set(actor, index);
  }
  for (const [actor, index] of lastCalls) present.set(index, actor);
  for (const [sequence_no, actor] of present) insert(db, 'presence', { sequence_no, actor });
}

/** A column that repeats a field, whatever a forger has put there. */
function text(entry: Loose, field: string): string {
  const value = entry[field] ?? '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function writeTasks(db: Transaction, events: readonly WrittenEvent[]): Promise<void> {
  const latest = new Map<number, { task: Task; index: number; salt: string; content: string; token: number | null }>();
  const counts = new Map<string, number>();
  const counters = new Map<string, number>();
  for (const { index, fields, entry, salt, content } of ofKind(events, 'task.')) {
    const taskNo = parseId(text(entry, 'task_id'));
    // A content omits them while they are null.
    const task = { holder: null, taken_from: null, ...(JSON.parse(content) as object) } as Task;
    const before = latest.get(taskNo);
    if (before !== undefined)
      insert(db, 'task_versions', { idx: before.index, task_no: taskNo, salt: before.salt, content: before.content });
    latest.set(taskNo, { task, index, salt, content, token: tokenOf(task, index, before) });
    counts.set(groupOf(task), 0);
    if (fields['kind'] === 'task.created') counters.set('task', (counters.get('task') ?? 0) + 1);
  }
  await db.run(
    db.engine === 'sqlite' ? "INSERT INTO task_search (task_search) VALUES ('delete-all')" : 'DELETE FROM task_search',
  );
  for (const [taskNo, { task, index, salt, token }] of latest) {
    insert(db, 'tasks', { ...toColumns(task, { event_idx: index, salt, claim_idx: token }, false), task_no: taskNo });
    indexWords(db, taskNo, indexedWords(task.title, task.description));
    for (const label of new Set(task.labels)) insert(db, 'task_labels', { label, task_no: taskNo });
    for (const id of new Set(task.depends_on))
      insert(db, 'task_dependencies', { task_no: taskNo, depends_on: parseId(id) });
    counts.set(groupOf(task), (counts.get(groupOf(task)) ?? 0) + 1);
    const counter = projectCounter(task.project);
    counters.set(counter, Math.max(task.sequence, counters.get(counter) ?? 0));
  }
  await storeUnmetLinks(db);
  for (const [group, tasks] of counts) {
    const [project, status, priority, assignee] = JSON.parse(group) as [string, string, number, string];
    insert(db, 'task_counts', { project, status, priority, assignee, tasks });
  }
  for (const [name, value] of counters) insert(db, 'counters', { name, value });
}

/** Every version of this program records a holder with a claim. */
function tokenOf(task: Task, index: number, before?: { readonly task: Task; readonly token: number | null }) {
  if (before === undefined) return null;
  const { workflow, status, holder, taken_from } = before.task;
  const isWorkflow = Object.hasOwn(WORKFLOWS, workflow);
  if (!isWorkflow || (holder === null && task.holder === null)) return before.token;
  const isStep = task.status !== status || task.holder !== holder;
  const step = { actor: task.updated_by, status: isStep ? task.status : undefined };
  return claimAfter({ workflow, status, holder, taken_from }, step).isNew ? index : before.token;
}

function groupOf({ project, status, priority, assignee }: Task): string {
  return JSON.stringify([project, status, PRIORITIES.indexOf(priority), assignee]);
}

function writeTrail(db: Transaction, events: readonly WrittenEvent[]): void {
  const starts = ofKind(events, 'session.started');
  const thoughts = ofKind(events, 'thought');
  for (const { index, entry, salt, session } of starts) {
    const id = text(entry, 'session_id');
    const seal = ofKind(events, 'session.finalized').find((event) => event.entry['session_id'] === id);
    const records = events.filter((event) => placesOf(event).some(({ session_id }) => session_id === id));
    insert(db, 'sessions', {
      session_no: parseId(id),
      start_idx: index,
      task_no: parseId(text(entry, 'task_id')),
      scope: text(entry, 'scope'),
      auditor_id: session?.auditor_id ?? '',
      reason: session?.reason ?? null,
      salt,
      started_at: text(entry, 'at'),
      started_by: text(entry, 'actor'),
      record_count: records.length,
      ...(seal === undefined ? {} : sealColumns(seal)),
    });
  }
  for (const event of thoughts) insertThought(db, event);
  for (const event of ofKind(events, 'task.'))
    for (const { session_id, session_seq } of placesOf(event))
      insert(db, 'session_events', { session_no: parseId(session_id), session_seq, idx: event.index });
  for (const [name, value] of [
    ['session', starts.length],
    ['thought', thoughts.length],
  ] as const)
    if (value > 0) insert(db, 'counters', { name, value });
}

function sealColumns({ index, entry }: WrittenEvent): Columns {
  return {
    finalized_idx: index,
    finalized_at: text(entry, 'at'),
    sealed_task_no: entry['task_id'] === undefined ? null : parseId(text(entry, 'task_id')),
    root: text(entry, 'root'),
    leaf_count: entry['leaf_count'] as SqlValue,
  };
}

function insertThought(db: Transaction, event: WrittenEvent): void {
  const { index, entry, salt, content, thought, previousHash } = event;
  insert(db, 'thoughts', {
    thought_no: parseId(text(entry, 'thought_id')),
    idx: index,
    task_no: parseId(text(entry, 'task_id')),
    chain_position: entry['chain_position'] as SqlValue,
    attempt: entry['attempt'] as SqlValue,
    session_no: parseId(text(entry, 'session_id')),
    session_seq: entry['session_seq'] as SqlValue,
    type: thought?.type ?? '',
    content: thought?.content ?? '',
    recorded_at: text(entry, 'at'),
    recorded_by: text(entry, 'actor'),
    previous_hash: previousHash,
    hash: text(entry, 'hash'),
    extras: content,
    salt,
  });
}

function writeProjects(db: Transaction, events: readonly WrittenEvent[]): void {
  for (const { index: idx, salt, content } of ofKind(events, 'project.options'))
    insert(db, 'project_options', { idx, project: /"project":"([^"]*)"/.exec(content)?.[1] ?? '', salt, content });
}

function writeKeys(db: Transaction, events: readonly WrittenEvent[]): void {
  for (const { index: idx, entry } of ofKind(events, 'key.added'))
    insert(db, 'ledger_keys', { idx, key: text(entry, 'key'), replaces: (entry['replaces'] as SqlValue) ?? null });
}

function writeObservations(db: Transaction, events: readonly WrittenEvent[]): void {
  const sessions = new Map<string, Columns>();
  for (const { index: idx, entry, salt, content } of ofKind(events, 'observed')) {
    const taskNo = (field: string) => (entry[field] === undefined ? null : parseId(text(entry, field)));
    const isReport = ['observed.coverage', 'observed.usage'].includes(text(entry, 'kind'));
    insert(db, 'observations', {
      idx,
      key: text(entry, 'key'),
      task_no: taskNo('task_id'),
      salt,
      content,
      report_session: isReport ? text(entry, 'session') : null,
    });
    if (entry['kind'] !== 'observed') continue;
    const [ofSession, ...others] = listAttachments({ ...entry, kind: 'observed' });
    for (const held of [ofSession, ...others]) {
      const before = sessions.get(held.key);
      const task_no = held.task === undefined ? null : parseId(held.task);
      const task = before?.['task_no'] === task_no ? held.task : undefined;
      const claim_idx = claimAfterEvent({ task, claim: (before?.['claim_idx'] as number | undefined) ?? null }, held);
      const open = openCallsAfter(parseJson(String(before?.['open_calls'] ?? '{}')) as OpenCalls, entry, idx);
      const isOpen = held === ofSession && Object.keys(open).length > 0;
      const open_calls = isOpen ? canonicalize(open) : null;
      sessions.set(held.key, { session: held.key, last_idx: idx, task_no, claim_idx, open_calls });
    }
  }
  for (const columns of sessions.values()) insert(db, 'observed_sessions', columns);
}
