import { describe, expect, it } from 'vitest';
import { DatabaseError } from './database.ts';
import { retryDeadlock } from './migrate.ts';

describe('retryDeadlock', () => {
  const deadlock = new DatabaseError('busy', 'db: the database server ended a deadlock (40P01)');
  const failing = (failures: readonly Error[]) => {
    const left = [...failures];
    return () => {
      const failure = left.shift();
      return failure === undefined ? Promise.resolve('done') : Promise.reject(failure);
    };
  };

  it('tries again after a deadlock, a few times', async () => {
    expect(await retryDeadlock(failing([deadlock, deadlock]))).toBe('done');
    await expect(retryDeadlock(failing(Array.from({ length: 5 }, () => deadlock)))).rejects.toBe(deadlock);
  });

  it('throws every other error at once', async () => {
    for (const error of [new DatabaseError('busy', 'locked'), new Error('a deadlock'), new TypeError('x')])
      await expect(retryDeadlock(failing([error]))).rejects.toBe(error);
  });
});
