import { describe, expect } from 'vitest';
import { AT, expectWhole, openTestLedger } from '../../../test/support/ledger.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import type { Database } from '../../db/database.ts';
import { formatTaskId } from '../../ids.ts';
import { nextNumbers } from '../../ledger/counters.ts';
import { newTask } from '../tasks/change.ts';
import { insertTask, projectCounter } from '../tasks/repository.ts';
import { recordThought, sealExtras } from './repository.ts';
import { buildSessionTree, GrowingSessionTree } from './session-tree.ts';
import { startSession } from './sessions.ts';

const ACTOR = 'tester';

async function openSession(): Promise<Database> {
  const database = await openTestLedger();
  await database.write({ durable: false }, async (db) => {
    const [taskNo, sequence] = await nextNumbers(db, 'task', projectCounter('p'));
    const task_id = formatTaskId(taskNo);
    const identity = { task_id, sequence, project: 'p', workflow: 'board', at: AT, actor: ACTOR } as const;
    await insertTask(db, newTask({ title: 'a task' }, identity), { unmet: 0 });
    await startSession(db, { task_id, auditor_id: ACTOR, reason: undefined, scope: 'shallow', at: AT, actor: ACTOR });
  });
  return database;
}

function record(database: Database, count: number): Promise<void> {
  return database.write({ durable: false }, async (db) => {
    for (let number = 0; number < count; number += 1) {
      const input = { task_id: 'T-0001', type: 'decision', content: `decision ${number}` } as const;
      const task = { task_no: 1, parent_no: null, attempt: 1 };
      await recordThought(db, { input, extras: sealExtras(input), task, sessionNo: 1, at: AT, actor: ACTOR });
    }
  });
}

describe('a session tree that grows before the write lock is taken', () => {
  // Around the page size, and zero.
  for (const [before, meanwhile] of [
    [0, 0],
    [0, 3],
    [3, 0],
    [3, 4],
    [1000, 1],
    [999, 1002],
  ] as const)
    promiseTest(
      'proofs/tree',
      `${before} records, then ${meanwhile} more, give the same root as all at once`,
      async () => {
        const database = await openSession();
        await record(database, before);
        const growing = new GrowingSessionTree(1, null);
        await database.read((db) => growing.grow(db));
        expect(growing.current().leafCount).toBe(before);
        await record(database, meanwhile);
        await database.write({ durable: false }, (db) => growing.grow(db));
        const atOnce = await database.read((db) => buildSessionTree(db, 1, null));
        expect(atOnce.leafCount).toBe(before + meanwhile);
        expect(growing.current()).toEqual(atOnce);
        await expectWhole(database);
      },
    );
});
