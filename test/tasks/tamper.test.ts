import { describe, expect, it } from 'vitest';
import { TASK_FIELDS } from '../../src/domains/tasks/fields/table.ts';
import { taskFields } from '../../src/domains/tasks/record.ts';
import { promiseTest } from '../support/promise-test.ts';
import { partOnPostgres } from '../support/properties.ts';
import { serverForAll, type TestServer } from '../support/test-server.ts';

type Row = Readonly<Record<string, string | number | null>>;

/** The tables about tasks: how to point at one row, and what a report about it must name. */
const TABLES: Readonly<Record<string, { key: readonly string[]; named: (row: Row) => RegExp }>> = {
  tasks: { key: ['task_no'], named: ({ task_no }) => new RegExp(`^T-000${task_no}$`) },
  task_versions: { key: ['idx'], named: ({ idx }) => new RegExp(`^task event ${idx}$`) },
  task_labels: { key: ['label', 'task_no'], named: ({ task_no }) => new RegExp(`^T-000${task_no}$`) },
  task_dependencies: { key: ['task_no', 'depends_on'], named: ({ task_no }) => new RegExp(`^T-000${task_no}$`) },
  task_unmet: { key: ['task_no'], named: ({ task_no }) => new RegExp(`^T-000${task_no}$`) },
  task_counts: { key: ['project', 'status', 'priority', 'assignee'], named: () => /^task_counts$/ },
  counters: { key: ['name'], named: ({ name }) => new RegExp(`^counter ${name}$`) },
};

/** All of the first task, under a number of its own. */
const FIELD_NAMES = Object.keys(TASK_FIELDS) as (keyof typeof TASK_FIELDS)[];
const COPIED = taskFields.select(FIELD_NAMES.filter((name) => name !== 'task_id' && name !== 'sequence')).columns;
const FORGED_TASK = `
  INSERT INTO tasks (task_no, sequence, event_idx, salt, is_open, is_ready, ${COPIED})
  SELECT 9, 9, event_idx, salt, is_open, is_ready, ${COPIED} FROM tasks WHERE task_no = 1`;

async function fill(server: TestServer): Promise<void> {
  await server.createTask({ title: 'first', labels: ['red', 'blue'], estimate_hours: 2.5, status: 'todo' });
  await server.createTask({ title: 'second', parent_id: 'T-0001', project: 'other', description: 'words' });
  await server.createTask({ title: 'third', depends_on: ['T-0001', 'T-0002'], workflow: 'pipeline', labels: ['red'] });
  await server.updateTask({ task_id: 'T-0001', status: 'blocked', blocked_reason: 'no key' });
  await server.updateTask({ task_id: 'T-0003', title: 'third, changed', priority: 'high', assignee: 'alice' });
  await server.startSession({ task_id: 'T-0003', auditor_id: 'tester' });
  await server.recordThought({ task_id: 'T-0003', type: 'decision', content: 'why' });
}

function otherValues(value: string | number | null): (string | number | null)[] {
  if (value === null) return ['forged', 7];
  if (typeof value === 'number') return [value + 1, value + 1000, value - 1, -value - 1, `${value}x`, null];
  return [`${value}x`, value.toUpperCase(), value.slice(1), '', ' ', null].filter((other) => other !== value);
}

const at = (key: readonly string[], first: number) =>
  key.map((name, index) => `${name} = $${first + index}`).join(' AND ');
const valuesOf = (row: Row, names: readonly string[]) => names.map((name) => row[name] ?? null);

describe('a direct edit', () => {
  const server = serverForAll(fill);
  // A count of zero tasks carries no information, so forging it changes nothing.
  const rowsOf = async (table: string) =>
    server().query<Row>(`SELECT * FROM ${table}${table === 'task_counts' ? ' WHERE tasks <> 0' : ''}`);

  for (const [table, { key, named }] of Object.entries(TABLES)) {
    promiseTest('tasks/tamper', `every column of every row of ${table}`, async () => {
      const rows = await rowsOf(table);
      const columns = Object.keys(rows[0] ?? {});
      expect(rows.length).toBeGreaterThan(1);
      const unnoticed: unknown[] = [];
      const tried = new Set<string>();
      for (const [turn, column] of columns.entries()) {
        for (const row of partOnPostgres(rows, turn, 2)) {
          for (const other of otherValues(row[column] ?? null)) {
            const sql = `UPDATE ${table} SET ${column} = $1 WHERE ${at(key, 2)}`;
            const problems = await tryEdit(server(), sql, [other, ...valuesOf(row, key)]);
            if (problems === undefined) continue;
            tried.add(column);
            if (!problems.some(({ place }) => named(row).test(place))) unnoticed.push({ row, column, other, problems });
          }
        }
      }
      expect(unnoticed).toEqual([]);
      expect([...tried].toSorted()).toEqual(columns.toSorted());
    });

    promiseTest('tasks/tamper', `a deleted row of ${table}`, async () => {
      for (const row of await rowsOf(table)) {
        const problems = await server().verifyWith(`DELETE FROM ${table} WHERE ${at(key, 1)}`, valuesOf(row, key));
        expect(problems.map(({ place }) => place)).toContainEqual(expect.stringMatching(named(row)));
      }
    });
  }

  const added: readonly (readonly [string, string, RegExp])[] = [
    ['tasks', FORGED_TASK, /^T-0009$/],
    ['task_versions', "INSERT INTO task_versions VALUES (0, 1, '', '{}')", /^task event 0$/],
    ['task_versions', "INSERT INTO task_versions VALUES (90000, 1, '', '{}')", /^task event 90000$/],
    ['task_versions', "INSERT INTO task_versions VALUES (-1, 1, '', '{}')", /^task event -1$/],
    [
      'task_versions',
      "INSERT INTO task_versions SELECT event_idx, task_no, salt, '{}' FROM tasks WHERE task_no = 1",
      /^task event \d+$/,
    ],
    ['task_labels', "INSERT INTO task_labels VALUES ('green', 1)", /^T-0001$/],
    ['task_labels', "INSERT INTO task_labels VALUES ('red', 77)", /^T-0077$/],
    ['task_dependencies', 'INSERT INTO task_dependencies VALUES (1, 3)', /^T-0001$/],
    ['task_dependencies', 'INSERT INTO task_dependencies VALUES (77, 1)', /^T-0077$/],
    ['task_unmet', 'INSERT INTO task_unmet VALUES (2, 1)', /^T-0002$/],
    ['task_unmet', 'INSERT INTO task_unmet VALUES (2, 0)', /^T-0002$/],
    ['task_unmet', 'INSERT INTO task_unmet VALUES (77, 1)', /^T-0077$/],
    ['task_unmet', 'INSERT INTO task_unmet VALUES (-1, 1)', /^task_unmet$/],
    ['task_unmet', 'INSERT INTO task_unmet VALUES (9007199254740993, 0)', /^task_unmet$/],
    ['task_counts', "INSERT INTO task_counts VALUES ('default', 'done', 1, 'unassigned', 4)", /^task_counts$/],
    ['counters', "INSERT INTO counters VALUES ('project/ghost', 3)", /^counter project\/ghost$/],
    ['counters', "INSERT INTO counters VALUES ('nonsense', 3)", /^counter nonsense$/],
  ];
  for (const [table, sql, place] of added) {
    promiseTest('tasks/tamper', `a row added to ${table}: ${place.source}`, async () => {
      const problems = await server().verifyWith(sql);
      expect(problems.map((problem) => problem.place)).toContainEqual(expect.stringMatching(place));
    });
  }

  it('restoring an earlier version of a task row is found', async () => {
    const [last] = await server().query<{ idx: number }>('SELECT event_idx AS idx FROM tasks WHERE task_no = 3');
    const [first] = await server().query<{ idx: number }>(
      'SELECT MIN(idx) AS idx FROM task_versions WHERE task_no = 3',
    );
    expect(first?.idx).toBeLessThan(last?.idx ?? 0);
    const sql = `UPDATE tasks SET title = 'third', priority = 1, assignee = 'unassigned', updated_at = created_at,
                 event_idx = ${first?.idx} WHERE task_no = 3`;
    const problems = await server().verifyWith(sql);
    expect(problems).toContainEqual({ place: 'T-0003', problem: `is older than its event ${last?.idx}` });
  });

  it('an update without a change is not reported', async () => {
    expect(await server().verifyWith('UPDATE tasks SET title = title')).toEqual([]);
  });
});

/** Undefined when the database itself refuses the value. */
async function tryEdit(server: TestServer, sql: string, parameters: readonly (string | number | null)[]) {
  try {
    return await server.verifyWith(sql, parameters);
  } catch (error) {
    if (/constraint|datatype mismatch|invalid input syntax/i.test(String(error))) return undefined;
    throw error;
  }
}
