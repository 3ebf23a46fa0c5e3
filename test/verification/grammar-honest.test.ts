import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openDesk, withFolder } from '../support/trail-server.ts';

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

describe('what an honest server records', () => {
  promiseTest('verify/grammar', 'is whole whatever clients call themselves, their tools and their fields', () =>
    withFolder(async (folder) => {
      for (const name of ODD_NAMES) {
        const desk = await openDesk(join(folder, 'colibri.db'), name);
        await expect(
          desk.client.callTool({ name, arguments: { [name]: name, z: [0.1, -1e-7, 1e20] } }),
        ).rejects.toThrow();
        await desk.refusal('task_create', { title: 7, [name.repeat(40)]: { '\n': 1, '\\': 2 } });
        const { task_id } = await desk.createTask({ title: '"\\字\u{1f426}', status: 'todo', estimate_hours: 1e-7 });
        await desk.updateTask({ task_id, status: 'in_progress' });
        await desk.close();
      }
      const desk = await openDesk(join(folder, 'colibri.db'));
      try {
        await assertWhole(desk.database);
      } finally {
        await desk.close();
      }
    }),
  );

  promiseTest('verify/inputs', 'texts as long as they may be, of characters that take two code units', () =>
    withFolder(async (folder) => {
      const birds = (count: number) => '\u{1f426}'.repeat(count);
      const desk = await openDesk(join(folder, 'colibri.db'));
      try {
        const { task_id } = await desk.createTask({
          title: birds(256),
          description: birds(8000),
          labels: [birds(64)],
          assignee: birds(128),
          status: 'todo',
        });
        await desk.start({ task_id, auditor_id: birds(128), reason: birds(1000) });
        await desk.record({
          task_id,
          type: 'risk',
          content: birds(5000),
          branch: birds(256),
          tests_run: [birds(512)],
          blockers: [birds(1000)],
          metadata: { [birds(128)]: birds(8000) },
        });
        await desk.updateTask({ task_id, status: 'blocked', blocked_reason: birds(1000) });
        await desk.refusal('task_create', { title: birds(257) });
        await assertWhole(desk.database);
      } finally {
        await desk.close();
      }
    }),
  );

  promiseTest('verify/grammar', 'is whole with a monotonic clock that stands still, runs backwards or leaps', () =>
    withFolder(async (folder) => {
      const times = [5, 5, 3, 1e12, 0.5, -7, 2 ** 31 - 1, 0];
      let asked = 0;
      const nowMs = () => times[asked++ % times.length] ?? 0;
      const desk = await openDesk(join(folder, 'colibri.db'), 'tester', { nowMs });
      try {
        for (const number of [1, 2, 3, 4, 5]) await desk.createTask({ title: `task ${number}` });
        await assertWhole(desk.database);
      } finally {
        await desk.close();
      }
    }),
  );
});
