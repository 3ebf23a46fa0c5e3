import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database, Transaction } from '../../src/db/database.ts';
import { openSqlite } from '../../src/db/sqlite/database.ts';
import { newTask } from '../../src/domains/tasks/change.ts';
import { insertTask } from '../../src/domains/tasks/repository.ts';
import { recordThought, sealExtras } from '../../src/domains/trail/repository.ts';
import type { ThoughtInput } from '../../src/domains/trail/schema.ts';
import { startSession } from '../../src/domains/trail/sessions.ts';
import { formatTaskId } from '../../src/ids.ts';
import { nextNumber } from '../../src/ledger/counters.ts';
import { openLedger } from '../../src/ledger/open.ts';

const AT = '2026-04-08T23:15:00.000Z';
const ACTOR = 'bench';

export interface BenchLedger {
  readonly database: Database;
  readonly folder: string;
}

export async function openBenchLedger(): Promise<BenchLedger> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-bench-'));
  const database = await openSqlite({
    path: join(folder, 'colibri.db'),
    readOnly: false,
    durability: 'relaxed',
    busyTimeoutMs: 10_000,
  });
  await openLedger(database, ACTOR, AT);
  return { database, folder };
}

/** A task with a live session; returns the numbers of both. */
export async function createTaskWithSession(database: Database): Promise<{ taskNo: number; sessionNo: number }> {
  return database.write({ durable: false }, async (db) => {
    const taskNo = await nextNumber(db, 'task');
    const sequence = await nextNumber(db, 'project/bench');
    const task_id = formatTaskId(taskNo);
    const identity = { task_id, sequence, project: 'bench', workflow: 'board', at: AT, actor: ACTOR } as const;
    await insertTask(db, newTask({ title: `task ${taskNo}` }, identity), { unmet: 0 });
    const session = { task_id, auditor_id: ACTOR, reason: undefined, scope: 'shallow', at: AT, actor: ACTOR } as const;
    const sessionId = await startSession(db, session);
    return { taskNo, sessionNo: Number(sessionId.slice(2)) };
  });
}

/** One decision of ordinary length with ordinary extras. */
export function recordOne(db: Transaction, taskNo: number, sessionNo: number, number: number) {
  const input: ThoughtInput = {
    task_id: formatTaskId(taskNo),
    type: 'decision',
    content: `Decision ${number}: keep the parser strict, because a lax one let half of a surrogate pair through and the record could not be verified again.`,
    branch: 'feature/strict-parser',
    commit_sha: 'a3f7d9b2c',
    tests_run: ['parser.test.ts'],
  };
  const task = { task_no: taskNo, parent_no: null, attempt: 1 };
  return recordThought(db, { input, extras: sealExtras(input), task, sessionNo, at: AT, actor: ACTOR });
}

const PER_TRANSACTION = 10_000;

/** Grows a chain in large transactions: how fast it grows is not what is measured. */
export async function growChain(database: Database, taskNo: number, sessionNo: number, from: number, to: number) {
  for (let begin = from; begin < to; begin += PER_TRANSACTION) {
    await database.write({ durable: false }, async (db) => {
      const end = Math.min(begin + PER_TRANSACTION, to);
      for (let number = begin; number < end; number += 1) await recordOne(db, taskNo, sessionNo, number);
    });
  }
}

class Undone<Result> extends Error {
  constructor(readonly result: Result) {
    super('undone on purpose');
  }
}

/** Work that leaves no trace, so that it can be done again. */
export async function undone<Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  try {
    return await database.write({ durable: false }, async (transaction) => {
      throw new Undone(await work(transaction));
    });
  } catch (error) {
    if (error instanceof Undone) return error.result as Result;
    throw error;
  }
}
