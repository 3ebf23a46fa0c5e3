import { describe, expect } from 'vitest';
import type { Agent } from '../support/agent.ts';
import { withAgents } from '../support/crew/concurrent-agents.ts';
import { promiseTest } from '../support/promise-test.ts';

describe('claiming tasks', () => {
  promiseTest('tasks/claim', 'six processes claim one task, and the losers learn the holder', () =>
    withAgents(names('agent', 6), async (agents) => {
      const [first] = agents as [Agent];
      for (let round = 0; round < 8; round += 1) {
        const { task_id } = await first.createTask({ title: `task ${round}`, status: 'todo' });
        const replies = await Promise.all(
          agents.map((agent) => agent.call('task_update', { task_id, status: 'in_progress' })),
        );
        const winners = replies.flatMap(({ failure }, index) => (failure === undefined ? [`agent-${index}`] : []));
        expect(winners).toHaveLength(1);
        const [winner] = winners;
        for (const { failure } of replies.filter((reply) => reply.failure !== undefined)) {
          expect(failure).toMatchObject({
            pattern: 'B',
            code: 'ERR_CLAIM_HELD',
            facts: { taskId: task_id, holder: winner },
          });
          expect(failure?.message).toContain(`held by ${winner}`);
        }
        expect(await first.getTask({ task_id })).toMatchObject({ status: 'in_progress', assignee: winner });
      }
    }),
  );

  promiseTest('tasks/claim', 'four agents that drain one queue never start the same task', () =>
    withAgents(names('grabber', 4), async (agents) => {
      const [first] = agents as [Agent];
      const tasks: string[] = [];
      for (let count = 0; count < 24; count += 1) {
        tasks.push((await first.createTask({ title: `task ${count}`, status: 'todo' })).task_id);
      }
      const grabbed = (await Promise.all(agents.map(emptyQueue))).flat();
      expect(grabbed.toSorted()).toEqual(tasks);
      expect((await first.nextActions({})).next_actions).toEqual([]);
    }),
  );

  promiseTest('tasks/claim', 'the first step of a pipeline task is claimed once', () =>
    withAgents(names('agent', 3), async (agents) => {
      const [first] = agents as [Agent];
      const { task_id } = await first.createTask({ title: 'a pipeline', workflow: 'pipeline' });
      const replies = await Promise.all(
        agents.map((agent) => agent.call('task_update', { task_id, status: 'GATHER' })),
      );
      const winner = replies.findIndex(({ failure }) => failure === undefined);
      expect(replies.filter(({ failure }) => failure !== undefined)).toHaveLength(2);
      expect((await first.getTask({ task_id })).assignee).toBe(`agent-${winner}`);
    }),
  );

  promiseTest('tasks/claim', 'claiming a task assigned to another agent reassigns it with a warning', () =>
    withAgents(['alice'], async ([alice]) => {
      const { createTask, updateTask } = alice as Agent;
      const { task_id } = await createTask({ title: 'for bob', status: 'todo', assignee: 'bob' });
      const claimed = await updateTask({ task_id, status: 'in_progress' });
      expect(claimed).toMatchObject({
        assignee: 'alice',
        updated_by: 'alice',
        warnings: ['the task was assigned to bob'],
      });
    }),
  );
});

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

/** What an agent does: read the queue, try its head, and read again if another agent was faster. */
async function emptyQueue(agent: Agent): Promise<string[]> {
  const mine: string[] = [];
  for (;;) {
    const [head] = (await agent.nextActions({ limit: 1 })).next_actions;
    if (head === undefined) return mine;
    const { failure } = await agent.call('task_update', { task_id: head.task_id, status: 'in_progress' });
    if (failure === undefined) mine.push(head.task_id);
    else expect(failure.code).toBe('ERR_CLAIM_HELD');
  }
}
