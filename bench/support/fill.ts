import { renameSync, rmSync } from 'node:fs';
import type { Transaction } from '../../src/db/database.ts';
import { newTask } from '../../src/domains/tasks/change.ts';
import { insertTask, projectCounter } from '../../src/domains/tasks/repository.ts';
import { formatTaskId } from '../../src/ids.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { type OpenOptions, openDatabase } from '../../src/trust/open-database.ts';

/** The tasks of project "focus", which come first and are the same in a ledger of any size. */
export const OPEN_TASKS = 1000;
const NEEDLES = 50;
const BATCH = 2000;
const WORDS = [
  'parser',
  'ledger',
  'schema',
  'review',
  'queue',
  'index',
  'token',
  'branch',
  'merge',
  'render',
  'cache',
  'socket',
];

export async function fillFile(path: string, size: number): Promise<void> {
  const part = `${path}.part`;
  for (const suffix of ['', '-wal', '-shm']) rmSync(part + suffix, { force: true });
  await fillWithTasks({ dbPath: part }, size);
  renameSync(part, path);
}

/** Makes a ledger with `size` tasks by the same code that serves task_create, many in a transaction. */
export async function fillWithTasks(
  place: Pick<OpenOptions, 'dbPath' | 'databaseUrl'>,
  size: number,
  progress: (done: number) => void = () => undefined,
): Promise<void> {
  const database = await openDatabase({ mode: 'FULL', durability: 'relaxed', readOnly: false, ...place });
  await openLedger(database, 'bench', timeOf(0));
  const counters = new Map<string, number>();
  for (let first = 1; first <= size; first += BATCH) {
    await database.write({ durable: false }, async (db) => {
      for (let number = first; number < first + BATCH && number <= size; number += 1)
        await makeTask(db, number, counters);
      for (const [name, value] of counters)
        db.send(
          'INSERT INTO counters (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
          [name, value],
        );
    });
    progress(Math.min(size, first + BATCH - 1));
  }
  await database.close();
}

/** Numbers are counted here, because this is the only writer and a query for each would dominate the time. */
function count(counters: Map<string, number>, name: string): number {
  const value = (counters.get(name) ?? 0) + 1;
  counters.set(name, value);
  return value;
}

async function makeTask(db: Transaction, number: number, counters: Map<string, number>): Promise<void> {
  const isFocus = number <= OPEN_TASKS;
  const project = isFocus ? 'focus' : `project-${number % 50}`;
  const words = [0, 1, 2, 3, 4, 5]
    .map((offset) => WORDS[(number * 7 + offset * (1 + (number % 5))) % WORDS.length])
    .join(' ');
  const input = {
    title: number <= NEEDLES ? `needle in a haystack ${number}` : `task ${number}: ${words}`,
    description: `${words}. `.repeat(3),
    priority: (['low', 'normal', 'high', 'critical'] as const)[number % 4],
    status: isFocus ? ('todo' as const) : ('backlog' as const),
    labels: [`label-${number % 20}`],
  };
  const taskNo = count(counters, 'task');
  const sequence = count(counters, projectCounter(project));
  const identity = {
    task_id: formatTaskId(taskNo),
    sequence,
    project,
    workflow: 'board',
    at: timeOf(number),
    actor: 'bench',
  } as const;
  await insertTask(db, newTask(input, identity), { unmet: 0 });
}

/** One second per task, so that time order is creation order. */
function timeOf(number: number): string {
  return new Date(Date.UTC(2025, 0, 1) + number * 1000).toISOString();
}
