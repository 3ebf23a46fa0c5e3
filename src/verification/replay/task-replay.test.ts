import { describe, expect, it } from 'vitest';
import { newTask } from '../../domains/tasks/change.ts';
import type { Task } from '../../domains/tasks/record.ts';
import { TaskReplay } from './task-replay.ts';

const AT = '2026-04-08T22:15:30.000Z';
const CREATED = newTask(
  { title: 'a task', status: 'todo' },
  { task_id: 'T-0001', sequence: 1, project: 'default', workflow: 'board', at: AT, actor: 'alice' },
);

function problemsOf(steps: readonly Partial<Task>[]): string[] {
  const problems: string[] = [];
  const replay = new TaskReplay((_place, problem) => problems.push(problem));
  replay.created(2, 1, CREATED);
  for (const [index, step] of steps.entries()) replay.updated(3 + index, 1, { ...CREATED, ...step }, () => true);
  return problems;
}

describe('a replayed step from review to blocked', () => {
  const toReview = [{ status: 'in_progress' }, { status: 'review' }];

  it('accepts another attempt, or none as earlier versions recorded it', () => {
    for (const attempt of [1, 2]) expect(problemsOf([...toReview, { status: 'blocked', attempt }])).toEqual([]);
  });

  it('refuses any other change of the attempt', () => {
    for (const attempt of [0, 3]) expect(problemsOf([...toReview, { status: 'blocked', attempt }])).toHaveLength(1);
    expect(problemsOf([{ status: 'blocked', attempt: 2 }])).toHaveLength(1);
    expect(problemsOf([...toReview, { status: 'backlog', attempt: 1 }])).toHaveLength(1);
  });
});
