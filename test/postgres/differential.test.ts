import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, vi } from 'vitest';
import type { Database, Row } from '../../src/db/database.ts';
import { readHead } from '../../src/ledger/head.ts';
import { createSalt } from '../../src/ledger/salt.ts';
import { tempFolder } from '../support/folders.ts';
import { placeLedger } from '../support/ledger-targets.ts';
import { newPostgresUrl } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer } from '../support/test-server.ts';

const SEED = 20_261_115;
const HISTORIES = 4;
const CALLS = 250;

const id = fc.integer({ min: 1, max: 7 }).map((number) => `T-000${number}`);
const session = fc.integer({ min: 1, max: 4 }).map((number) => `A-000${number}`);
const words = fc.constantFrom(
  'sun',
  'Moon rise',
  'größer',
  '月が出る',
  '🐦 bird',
  'a-b_c',
  'ЯБЛОКО',
  'ﬁne',
  '100%',
  "o'clock",
);
const text = fc.array(words, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' '));
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const status = fc.constantFrom('todo', 'in_progress', 'review', 'done', 'backlog', 'blocked', 'cancelled', 'GATHER');
const priority = fc.constantFrom('low', 'normal', 'high', 'critical');
const project = fc.constantFrom('default', 'other', 'a.b-c_d');
const page = { limit: maybe(fc.integer({ min: 1, max: 5 })), offset: maybe(fc.integer({ min: 0, max: 4 })) };

const CALLS_OF: Readonly<Record<string, fc.Arbitrary<object>>> = {
  task_create: fc.record({
    title: text,
    description: maybe(text),
    project: maybe(project),
    workflow: maybe(fc.constantFrom('board', 'pipeline')),
    status: maybe(fc.constantFrom('todo', 'backlog', 'INIT', 'done')),
    priority: maybe(priority),
    labels: maybe(fc.array(words, { maxLength: 3 })),
    assignee: maybe(fc.constantFrom('alice', 'bob')),
    estimate_hours: maybe(fc.constantFrom(0, 0.1, 1 / 3, 1000, 5e-324)),
    parent_id: maybe(id),
    depends_on: maybe(fc.array(id, { maxLength: 3 })),
  }),
  task_update: fc.record({
    task_id: id,
    status: maybe(status),
    title: maybe(text),
    progress: maybe(fc.integer({ min: -1, max: 100 })),
    priority: maybe(priority),
    labels: maybe(fc.array(words, { maxLength: 3 })),
    blocked_reason: maybe(text),
    depends_on: maybe(fc.array(id, { maxLength: 2 })),
  }),
  task_get: fc.record({
    task_id: id,
    include_thought_trail: maybe(fc.boolean()),
    include_dependents: maybe(fc.boolean()),
  }),
  task_list: fc.record({
    project: maybe(project),
    status: maybe(fc.array(status, { maxLength: 3 })),
    label: maybe(words),
    search: maybe(fc.oneof(text, fc.constantFrom('su', 'mo', 'big', 'gros', '月', '"', '%', '_', 'q', "'"))),
    sort_by: maybe(fc.constantFrom('created', 'updated', 'priority', 'progress')),
    sort_order: maybe(fc.constantFrom('asc', 'desc')),
    ...page,
  }),
  task_next_actions: fc.record({ project: maybe(project), include_blocked: maybe(fc.boolean()) }),
  audit_session_start: fc.record({ task_id: id, auditor_id: words, scope: maybe(fc.constantFrom('deep', 'shallow')) }),
  thought_record: fc.record({
    task_id: id,
    type: fc.constantFrom('decision', 'risk', 'nonsense'),
    content: text,
    session_id: maybe(session),
    metadata: maybe(fc.dictionary(fc.constantFrom('a', 'ä', '🐦'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })),
  }),
  thought_record_list: fc.record({
    task_id: maybe(id),
    session_id: maybe(session),
    verify_chain: maybe(fc.boolean()),
    ...page,
  }),
  audit_verify_chain: fc.record({ task_id: maybe(id), session_id: maybe(session) }),
  merkle_finalize: fc.record({ session_id: session, task_id: maybe(id) }),
  merkle_root: fc.record({ session_id: session, proof_for: maybe(fc.constantFrom('T-0001', 'A-0001')) }),
};

interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

const call: fc.Arbitrary<Call> = fc.oneof(
  ...Object.entries(CALLS_OF).map(([name, input]) =>
    input.map((fields) => ({ name, arguments: JSON.parse(JSON.stringify(fields)) as Record<string, unknown> })),
  ),
);

describe('one random history on both engines', () => {
  for (let history = 0; history < HISTORIES; history += 1)
    promiseTest('team/same', `history ${history}: the same answers, the same rows, the same root`, async () => {
      const calls = fc.sample(call, { seed: SEED + history, numRuns: CALLS });
      const [file, schema] = [join(tempFolder(), 'colibri.db'), `schema ${history}`];
      placeLedger(file, file);
      placeLedger(schema, await newPostgresUrl());
      const onFile = await play(file, calls);
      const onServer = await play(schema, calls);
      for (const [index, answer] of onServer.answers.entries())
        expect({ ...calls[index], answer }).toEqual({ ...calls[index], answer: onFile.answers[index] });
      expect(onServer).toEqual(onFile);
      expect(onFile.answers.filter((answer) => !answer.includes('"ok":false')).length).toBeGreaterThan(CALLS / 4);
    });
});

/** With the same clock and the same randomness the same history must leave the same bytes. */
async function play(path: string, calls: readonly Call[]) {
  const restoreRandomness = fixRandomness();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 2) });
  const server = await openServer(path, 'tester', { nowMs: () => 0 });
  try {
    const answers: string[] = [];
    for (const request of calls) {
      vi.setSystemTime(Date.now() + 7);
      const { content } = await server.client.callTool(request);
      answers.push(JSON.stringify(content));
    }
    await assertWhole(server.database);
    return { answers, head: await server.database.read(readHead), tables: await readTables(server.database) };
  } finally {
    await server.close();
    vi.useRealTimers();
    restoreRandomness();
  }
}

/** The same sequence of salts and ids for every engine, until the returned function is called. */
function fixRandomness(): () => void {
  let count = 0;
  const digest = () => {
    count += 1;
    return createHash('sha256').update(String(count)).digest();
  };
  const fill = vi.spyOn(crypto, 'randomFillSync').mockImplementation((buffer) => {
    for (let at = 0; at < buffer.byteLength; at += 32) digest().copy(buffer as Buffer, at);
    return buffer;
  });
  const uuid = vi.spyOn(crypto, 'randomUUID').mockImplementation(() => {
    const hex = digest().toString('hex');
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5') as crypto.UUID;
  });
  // Apart from the sequence: a connection to PostgreSQL takes bytes for itself.
  const same = createHash('sha256').update('bytes').digest();
  const bytes = vi
    .spyOn(crypto, 'randomBytes')
    .mockImplementation((size: number) => Buffer.from(same.subarray(0, size)));
  // Only on PostgreSQL, which several machines share, does a process id depend on it.
  const host = vi.spyOn(os, 'hostname').mockReturnValue('');
  syncBuiltinESMExports();
  // Salts come from a pool: use up what is left of it.
  while (fill.mock.calls.length === 0) createSalt();
  return () => {
    fill.mockRestore();
    uuid.mockRestore();
    bytes.mockRestore();
    host.mockRestore();
    syncBuiltinESMExports();
  };
}

const TABLES = {
  ledger_entries: 'idx',
  ledger_head: 'id',
  ledger_nodes: 'level, idx',
  call_exits: 'sequence_no',
  presence: 'sequence_no',
  actions: 'sequence_no',
  counters: 'name',
  task_versions: 'idx',
  tasks: 'task_no',
  task_labels: 'label, task_no',
  task_dependencies: 'task_no, depends_on',
  task_unmet: 'task_no',
  task_counts: 'project, status, priority, assignee',
  sessions: 'session_no',
  session_events: 'session_no, session_seq',
  thoughts: 'thought_no',
};

function readTables(database: Database): Promise<Record<string, Row[]>> {
  return database.read(async (reader) => {
    const tables: Record<string, Row[]> = {};
    for (const [table, order] of Object.entries(TABLES))
      tables[table] = withoutClock(await reader.query(`SELECT * FROM ${table} ORDER BY ${order}`));
    return tables;
  });
}

/** Each engine has a clock of its own. */
function withoutClock(rows: readonly Row[]): Row[] {
  return rows.map(({ clock_id: _id, clock_ms: _time, ...row }) => row);
}
