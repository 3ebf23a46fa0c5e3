import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { growChain } from '../../bench/trail/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openServer, type TestServer, withFolder, withServer } from '../support/test-server.ts';

/** Two tasks, the second under the first; a sealed deep session with records of both, then a live one. */
async function fill(server: TestServer): Promise<void> {
  await server.createTask({ title: 'parent' });
  await server.createTask({ title: 'child', parent_id: 'T-0001' });
  await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor', reason: 'review', scope: 'deep' });
  for (let number = 1; number <= 4; number += 1)
    await server.recordThought({ task_id: 'T-0001', type: 'decision', content: `sealed ${number}` });
  await server.recordThought({ task_id: 'T-0002', session_id: 'A-0001', type: 'risk', content: 'of the child' });
  await server.updateTask({ task_id: 'T-0001', status: 'todo' });
  await server.finalize({ session_id: 'A-0001' });
  await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
  for (let number = 5; number <= 6; number += 1)
    await server.recordThought({ task_id: 'T-0001', type: 'decision', content: `live ${number}` });
}

interface Expected {
  readonly sql: string;
  readonly scope: { task_id: string } | { session_id: string };
  readonly broken: readonly (readonly [layer: string, record: string, position: number])[];
}

const thoughtId = (number: number) => `\u0398-000${number}`;
const task = { task_id: 'T-0001' };
const session = { session_id: 'A-0001' };

const DEFECTS: Readonly<Record<string, Expected>> = {
  'other content': {
    sql: "UPDATE thoughts SET content = 'x' WHERE thought_no = 2",
    scope: task,
    broken: [['hash', thoughtId(2), 2]],
  },
  'other extras': {
    sql: `UPDATE thoughts SET extras = '{"branch":"x"}' WHERE thought_no = 2`,
    scope: task,
    broken: [['entry', thoughtId(2), 2]],
  },
  'another hash breaks its own layers and the next link': {
    sql: `UPDATE thoughts SET hash = '${'0'.repeat(64)}' WHERE thought_no = 2`,
    scope: task,
    broken: [
      ['hash', thoughtId(2), 2],
      ['entry', thoughtId(2), 2],
      ['link', thoughtId(3), 3],
    ],
  },
  'a lost link in the middle': {
    sql: 'DELETE FROM thoughts WHERE thought_no = 3',
    scope: task,
    broken: [
      ['link', thoughtId(4), 4],
      ['entry', 'T-0001', 5],
    ],
  },
  'a cut end, which every other link survives': {
    sql: 'DELETE FROM thoughts WHERE thought_no = 7',
    scope: task,
    broken: [['entry', 'T-0001', 5]],
  },
  'a cut end, with every table that knew of it': {
    sql: `DELETE FROM thoughts WHERE thought_no = 7;
          UPDATE sessions SET record_count = record_count - 1 WHERE session_no = 1;
          UPDATE counters SET value = value - 1 WHERE name = 'thought'`,
    scope: task,
    broken: [['entry', 'T-0001', 5]],
  },
  'two broken places are both named': {
    sql: "UPDATE thoughts SET content = 'x' WHERE thought_no IN (1, 4)",
    scope: task,
    broken: [
      ['hash', thoughtId(1), 1],
      ['hash', thoughtId(4), 4],
    ],
  },
  'an entry that the tree does not know': {
    sql: `UPDATE ledger_entries SET entry = REPLACE(entry, '"attempt":1', '"attempt":2') WHERE idx IN (SELECT idx FROM thoughts WHERE thought_no = 1)`,
    scope: task,
    broken: [
      ['entry', thoughtId(1), 1],
      ['log', thoughtId(1), 1],
      ['session', 'A-0001', 0],
    ],
  },
  'a lost node above it': {
    sql: 'DELETE FROM ledger_nodes WHERE level = 4 AND idx = (SELECT idx / 16 FROM thoughts WHERE thought_no = 1)',
    scope: task,
    broken: [['log', thoughtId(1), 1]],
  },
  'a node above it that is not a hash': {
    sql: "UPDATE ledger_nodes SET hash = 'none' WHERE level = 4 AND idx = (SELECT idx / 16 FROM thoughts WHERE thought_no = 1)",
    scope: task,
    broken: [['log', thoughtId(1), 1]],
  },
  'another root in the session': {
    sql: `UPDATE sessions SET root = '${'0'.repeat(64)}' WHERE session_no = 1`,
    scope: task,
    broken: [['session', 'A-0001', 0]],
  },
  'another reason for the session': {
    sql: "UPDATE sessions SET reason = 'x' WHERE session_no = 1",
    scope: session,
    broken: [['session', 'A-0001', 0]],
  },
  'another time of the seal': {
    sql: "UPDATE sessions SET finalized_at = 'x' WHERE session_no = 1",
    scope: session,
    broken: [['session', 'A-0001', 0]],
  },
  'a seal that was taken off': {
    sql: `UPDATE sessions SET finalized_idx = NULL, finalized_at = NULL, root = NULL, leaf_count = NULL, task_no = 9 WHERE session_no = 1`,
    scope: session,
    broken: [['session', 'A-0001', 0]],
  },
  'a seal that was taken off, of a session from before all time': {
    sql: `UPDATE sessions SET finalized_idx = NULL, finalized_at = NULL, root = NULL, leaf_count = NULL, task_no = 9,
            start_idx = -999999999999999 WHERE session_no = 1`,
    scope: session,
    broken: [['session', 'A-0001', 0]],
  },
  'another content of a task event': {
    sql: "UPDATE tasks SET title = 'x' WHERE event_idx = (SELECT MAX(event_idx) FROM tasks)",
    scope: session,
    broken: [['entry', 'entry', 6]],
  },
  'a thought left out of the session': {
    sql: 'DELETE FROM thoughts WHERE session_no = 1 AND session_seq = 3',
    scope: session,
    broken: [
      ['session', 'entry', 4],
      ['session', 'A-0001', 5],
    ],
  },
  'a task event left out of the session': {
    sql: 'DELETE FROM session_events WHERE session_no = 1 AND session_seq = 6',
    scope: session,
    broken: [['session', 'A-0001', 5]],
  },
  'two thoughts of the session swapped': {
    sql: `DROP INDEX thoughts_by_session;
          UPDATE thoughts SET session_seq = 3 - session_seq WHERE session_no = 1 AND session_seq IN (1, 2)`,
    scope: session,
    broken: [
      ['session', 'entry', 1],
      ['entry', thoughtId(1), 1],
      ['session', 'entry', 2],
      ['entry', thoughtId(2), 2],
      ['session', 'A-0001', 0],
    ],
  },
  'a thought instead of a task event': {
    sql: 'UPDATE session_events SET idx = (SELECT idx FROM thoughts WHERE thought_no = 1) WHERE session_no = 1 AND session_seq = 6',
    scope: session,
    broken: [['session', 'entry', 6]],
  },
  'a task event instead of a thought': {
    sql: 'UPDATE session_events SET session_seq = 2 WHERE session_no = 1 AND session_seq = 6',
    scope: session,
    broken: [
      ['session', 'entry', 2],
      ['session', 'entry', 3],
    ],
  },
  'a place before the first': {
    sql: 'INSERT INTO session_events (session_no, session_seq, idx) VALUES (1, 0, 1)',
    scope: session,
    broken: [['session', 'A-0001', 6]],
  },
  'a session that is gone': {
    sql: 'DELETE FROM sessions WHERE session_no = 1',
    scope: task,
    broken: [['session', 'A-0001', 1]],
  },
};

describe('audit_verify_chain', () => {
  for (const [defect, { sql, scope, broken }] of Object.entries(DEFECTS))
    promiseTest('trail/report', defect, () =>
      withFolder(async (folder) => {
        const server = await openServer(join(folder, 'colibri.db'));
        try {
          await fill(server);
          expect(await server.verifyChain(scope)).toMatchObject({ chain_valid: true, integrity_score: 100 });
          await server.database.write({ durable: false }, (transaction) => transaction.run(sql));
          const report = await server.verifyChain(scope);
          expect(report.chain_valid).toBe(false);
          expect(report.integrity_score).toBeLessThan(100);
          const found = report.broken_links.map(({ layer, record, position }) => [layer, record, position]);
          for (const [layer, record, position] of broken)
            expect(found).toContainEqual([layer, expect.stringMatching(`^${record}`), position]);
          const { position, expected_hash, actual_hash, problem } = report.broken_links[0] ?? {};
          expect([typeof position, typeof expected_hash, typeof actual_hash]).toEqual(['number', 'string', 'string']);
          expect(problem).not.toBe('');
          const listed = await server.listThoughts({ ...scope, verify_chain: true });
          expect(listed.chain_valid).toBe(false);
        } finally {
          await server.close();
        }
      }),
    );

  promiseTest('tasks/truncated', 'more than 500 broken links', () =>
    withFolder(async (folder) => {
      const server = await openServer(join(folder, 'colibri.db'));
      try {
        await server.createTask({ title: 'a task' });
        await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
        await growChain(server.database, 1, 1, 0, 501);
        expect(await server.verifyChain(task)).not.toHaveProperty('truncated');
        await server.database.write({ durable: false }, (transaction) =>
          transaction.run(`UPDATE thoughts SET extras = '{"a":1}'`),
        );
        const report = await server.verifyChain(task);
        expect(report).toMatchObject({ truncated: true, broken_links_total: 501, total_records: 501 });
        expect(report.broken_links).toHaveLength(500);
        expect(await server.listThoughts({ ...task, verify_chain: true, limit: 1 })).toMatchObject({ truncated: true });
      } finally {
        await server.close();
      }
    }),
  );

  promiseTest('trail/progress', 'page by page on a long chain, and not to one that does not ask', () =>
    withServer(async (server) => {
      await server.createTask({ title: 'a task' });
      await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      await growChain(server.database, 1, 1, 0, 2500);
      const seen: [number, number | undefined][] = [];
      const input = { task_id: 'T-0001', session_id: 'A-0001' };
      await server.client.callTool(
        { name: 'audit_verify_chain', arguments: input },
        { onprogress: ({ progress, total }) => seen.push([progress, total]) },
      );
      expect(seen.slice(0, 3)).toEqual([
        [1000, 2500],
        [2000, 2500],
        [2500, 2500],
      ]);
      expect(seen.map(([progress]) => progress)).toEqual([1000, 2000, 2500, 3500, 4500, 5000]);
      seen.length = 0;
      expect((await server.verifyChain(input)).total_records).toBe(5000);
      expect(seen).toEqual([]);
    }),
  );

  promiseTest('trail/report', 'two records in the last place of a page', () =>
    withFolder(async (folder) => {
      const server = await openServer(join(folder, 'colibri.db'));
      try {
        await server.createTask({ title: 'a task' });
        await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
        await growChain(server.database, 1, 1, 0, 1001);
        expect(await server.verifyChain(session)).toMatchObject({ chain_valid: true, integrity_score: 100 });
        await server.database.write({ durable: false }, (transaction) =>
          transaction.run('INSERT INTO session_events (session_no, session_seq, idx) VALUES (1, 1000, 1)'),
        );
        const report = await server.verifyChain(session);
        expect(report.chain_valid).toBe(false);
        expect(report.integrity_score).toBeLessThan(100);
      } finally {
        await server.close();
      }
    }),
  );

  promiseTest('trail/report', 'a score is never rounded up to 100', () =>
    withFolder(async (folder) => {
      const server = await openServer(join(folder, 'colibri.db'));
      try {
        await server.createTask({ title: 'a task' });
        await server.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
        await growChain(server.database, 1, 1, 0, 300);
        await server.database.write({ durable: false }, (transaction) =>
          transaction.run("UPDATE thoughts SET content = 'x' WHERE thought_no = 150"),
        );
        expect(await server.verifyChain({ task_id: 'T-0001' })).toMatchObject({
          integrity_score: 99,
          chain_valid: false,
        });
        await server.database.write({ durable: false }, (transaction) =>
          transaction.run("UPDATE thoughts SET type = 'x'"),
        );
        const ruined = await server.verifyChain({ task_id: 'T-0001' });
        expect(ruined).toMatchObject({ integrity_score: 0, chain_valid: false, total_records: 300 });
        await server.database.write({ durable: false }, (transaction) => transaction.run('DELETE FROM thoughts'));
        expect(await server.verifyChain({ task_id: 'T-0001' })).toMatchObject({
          integrity_score: 0,
          chain_valid: false,
        });
      } finally {
        await server.close();
      }
    }),
  );
});
