import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, withFolder } from '../support/test-server.ts';

const ODD_NAMES = [
  '',
  ' ',
  '../../x',
  'a\u0000b',
  '\u0007\u009f\u2028',
  'x'.repeat(1000),
  '字\u{1f426}',
  '"\\',
  '\ud800',
  '{}',
];

describe('a ledger of an honest server', () => {
  promiseTest('verify/grammar', 'verifies with any names of clients, tools and fields', () =>
    withFolder(async (folder) => {
      for (const name of ODD_NAMES) {
        const server = await openServer(join(folder, 'colibri.db'), name);
        await expect(
          server.client.callTool({ name, arguments: { [name]: name, z: [0.1, -1e-7, 1e20] } }),
        ).rejects.toThrow();
        await server.refusal('task_create', { title: 7, [name.repeat(40)]: { '\n': 1, '\\': 2 } });
        const { task_id } = await server.createTask({ title: '"\\字\u{1f426}', status: 'todo', estimate_hours: 1e-7 });
        await server.updateTask({ task_id, status: 'in_progress' });
        await server.close();
      }
      const server = await openServer(join(folder, 'colibri.db'));
      try {
        await assertWhole(server.database);
      } finally {
        await server.close();
      }
    }),
  );

  promiseTest('verify/inputs', 'texts of the maximum length in characters of two code units', () =>
    withFolder(async (folder) => {
      const birds = (count: number) => '\u{1f426}'.repeat(count);
      const server = await openServer(join(folder, 'colibri.db'));
      try {
        const { task_id } = await server.createTask({
          title: birds(256),
          description: birds(8000),
          labels: [birds(64)],
          assignee: birds(128),
          status: 'todo',
        });
        await server.startSession({ task_id, auditor_id: birds(128), reason: birds(1000) });
        await server.recordThought({
          task_id,
          type: 'risk',
          content: birds(5000),
          branch: birds(256),
          tests_run: [birds(512)],
          blockers: [birds(1000)],
          metadata: { [birds(128)]: birds(8000) },
        });
        await server.updateTask({ task_id, status: 'blocked', blocked_reason: birds(1000) });
        await server.refusal('task_create', { title: birds(257) });
        await assertWhole(server.database);
      } finally {
        await server.close();
      }
    }),
  );

  promiseTest('verify/grammar', 'verifies with a monotonic clock that stands still, runs backwards or leaps', () =>
    withFolder(async (folder) => {
      const times = [5, 5, 3, 1e12, 0.5, -7, 2 ** 31 - 1, 0];
      let asked = 0;
      const nowMs = () => times[asked++ % times.length] ?? 0;
      const server = await openServer(join(folder, 'colibri.db'), 'tester', { nowMs });
      try {
        for (const number of [1, 2, 3, 4, 5]) await server.createTask({ title: `task ${number}` });
        await assertWhole(server.database);
      } finally {
        await server.close();
      }
    }),
  );
});
