import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Database, Reader, SqlValue, Transaction } from '../../src/db/database.ts';
import { assertAcyclic } from '../../src/domains/tasks/dependencies.ts';
import {
  addChild,
  readLinks,
  removeAwaited,
  removeChild,
  requireTasks,
  storeUnmet,
} from '../../src/domains/tasks/dependency-links.ts';
import { listBlocked, listFreeTasks } from '../../src/domains/tasks/next-actions.ts';
import { findTokenedTask, listChildren, listUnmet } from '../../src/domains/tasks/repository.ts';
import { ColibriError } from '../../src/errors.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { storeUnmetLinks } from '../support/forge/unmet-links.ts';
import { AT } from '../support/ledger.ts';
import { databaseAt } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { counted, type Link, type ReadingCost, shortestCycle } from './fixtures/link-graph.ts';

const folder = mkdtempSync(join(tmpdir(), 'colibri-cycles-'));
let database: Database;
beforeAll(async () => {
  const place = await databaseAt(join(folder, 'colibri.db'));
  database = await openDatabase({ mode: 'FULL', durability: 'relaxed', readOnly: false, ...place });
  await openLedger(database, 'tester', AT);
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

/** Replaces all links: dependencies are plain rows, a parent is a column of its child. */
async function fill(dependencies: readonly Link[], parents: readonly Link[] = []): Promise<void> {
  await fillFrom(
    `SELECT ${at('value', 0)} AS task_no, ${at('value', 1)} AS depends_on FROM ${each('$1')}`,
    `SELECT ${at('value', 0)} AS parent_no, ${at('value', 1)} AS task_no FROM ${each('$1')}`,
    [JSON.stringify(dependencies)],
    [JSON.stringify(parents)],
  );
}

const isSqlite = () => database.engine === 'sqlite';
const each = (list: string) => (isSqlite() ? `json_each(${list})` : `json_array_elements(CAST(${list} AS JSON))`);
const at = (pair: string, place: number) =>
  isSqlite() ? `json_extract(${pair}, '$[${place}]')` : `CAST(${pair} ->> ${place} AS BIGINT)`;

async function fillFrom(
  dependencies: string,
  parents: string,
  ofDependencies: readonly SqlValue[] = [],
  ofParents: readonly SqlValue[] = [],
): Promise<void> {
  await database.write({ durable: false }, async (db) => {
    await db.query('DELETE FROM task_dependencies');
    await db.query('DELETE FROM tasks');
    // DISTINCT because a random graph has the same link twice.
    await db.query(
      `INSERT INTO task_dependencies (task_no, depends_on) SELECT DISTINCT task_no, depends_on FROM (${dependencies}) AS d`,
      ofDependencies,
    );
    await db.query(
      `INSERT INTO tasks (task_no, parent_no, event_idx, salt, project, sequence, workflow, status, is_open, is_ready, title,
         description, priority, progress, assignee, labels, depends_on, attempt, created_at, created_by, updated_at, updated_by)
       SELECT task_no, parent_no, task_no, '', 'default', task_no, 'board', 'todo', 1, 1, 'one of many',
         '', 2, 0, 'unassigned', '[]', '[]', 1, 0, '', 0, '' FROM (${parents}) AS p`,
      ofParents,
    );
    await storeUnmetLinks(db);
  });
}

/** The named cycle, the message of a search that gave up, or undefined. */
async function search(taskNo: number, cost: ReadingCost = { statements: 0, links: 0 }): Promise<unknown> {
  try {
    await database.read(async (db) => {
      const reading = counted((request) => readLinks(db, request));
      await assertAcyclic(taskNo, reading.readLinks).finally(() => Object.assign(cost, reading.cost));
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof ColibriError)) throw error;
    return error.facts['cycle'] ?? error.message;
  }
}

describe('the search for a cycle in a database', () => {
  promiseTest('tasks/cycles', 'the search agrees with an exhaustive search on random graphs', async () => {
    const number = fc.integer({ min: 1, max: 9 });
    const graphs = fc.sample(
      fc.record({
        dependencies: fc.array(fc.tuple(number, number), { minLength: 2, maxLength: 12 }),
        parents: fc.uniqueArray(fc.tuple(number, number), { maxLength: 6, selector: ([, child]) => child }),
      }),
      { seed: 7, numRuns: 150 },
    );
    let [cyclic, unnoticed] = [0, 0];
    for (const { dependencies, parents } of graphs) {
      await fill(dependencies, parents);
      const all: Link[] = [...dependencies, ...parents];
      const found = ((await search(1)) as string[] | undefined)?.map((id) => Number(id.slice(2)));
      const length = shortestCycle(1, all);
      expect(found?.length).toBe(length === undefined ? undefined : length + 1);
      for (const [index, awaited] of (found ?? []).slice(1).entries())
        expect(all).toContainEqual([found?.[index], awaited]);
      if (length !== undefined) cyclic += 1;
      // The control: a search that knew dependencies alone would have been found out.
      if (length !== shortestCycle(1, dependencies)) unnoticed += 1;
    }
    expect(cyclic).toBeGreaterThan(20);
    expect(graphs.length - cyclic).toBeGreaterThan(20);
    expect(unnoticed).toBeGreaterThan(10);
  });

  const NUMBERS = 'WITH RECURSIVE n (no) AS (SELECT 1 UNION ALL SELECT no + 1 FROM n WHERE no < 30000) SELECT';
  const CHAIN = `${NUMBERS} no + 1 AS task_no, no AS depends_on FROM n`;
  const NO_LINKS = 'SELECT 1 AS task_no, 1 AS depends_on WHERE 1 = 0';
  const NO_TASKS = 'SELECT 1 AS task_no, 1 AS parent_no WHERE 1 = 0';
  const shapes: Readonly<
    Record<string, { dependencies: string; tasks: string; cheap: readonly number[]; dear: readonly number[] }>
  > = {
    'a chain of 30,000 dependencies': {
      dependencies: CHAIN,
      tasks: NO_TASKS,
      cheap: [1, 5, 30_000, 29_500],
      dear: [15_000],
    },
    'a chain of 30,000 parents': {
      dependencies: NO_LINKS,
      tasks: `${NUMBERS} no + 1 AS task_no, no AS parent_no FROM n`,
      cheap: [1, 5, 30_000, 29_500],
      dear: [15_000],
    },
    '30,000 children; one waits for a dependency': {
      dependencies: 'SELECT 5 AS task_no, 200000 AS depends_on',
      tasks: `${NUMBERS} no + 1 AS task_no, 1 AS parent_no FROM n`,
      cheap: [1, 5, 200_000],
      dear: [],
    },
    '30,000 tasks that depend on one, which is a parent of a chain': {
      dependencies: `${NUMBERS} no + 200000 AS task_no, 1 AS depends_on FROM n`,
      tasks: `${NUMBERS} no + 1 AS task_no, no AS parent_no FROM n WHERE no < 300`,
      cheap: [1, 2, 300, 200_005],
      dear: [],
    },
    'tasks with 50 dependencies each, which many ways lead to': {
      dependencies: `${NUMBERS} 51 + (no - 1) / 50 AS task_no, 51 + (no - 1) / 50 - 1 - (no - 1) % 50 AS depends_on FROM n`,
      tasks: NO_TASKS,
      cheap: [5, 60, 645],
      dear: [300],
    },
  };
  for (const [name, { dependencies, tasks, cheap, dear }] of Object.entries(shapes)) {
    promiseTest('tasks/bounded-search', name, async () => {
      await fillFrom(dependencies, tasks);
      for (const taskNo of cheap) {
        const cost = { statements: 0, links: 0 };
        expect(await search(taskNo, cost)).toBeUndefined();
        expect(cost.statements).toBeLessThanOrEqual(15);
        expect(cost.links).toBeLessThanOrEqual(12_000);
      }
      for (const taskNo of dear) {
        const cost = { statements: 0, links: 0 };
        expect(await search(taskNo, cost)).toMatch(/^cannot rule out a cycle: .*; nothing was changed; /);
        expect(cost.statements).toBeLessThanOrEqual(100);
        expect(cost.links).toBeLessThanOrEqual(100_000);
      }
    });
  }

  promiseTest('tasks/flat', 'every statement about links uses an index', async () => {
    await fill(
      [[2, 1]],
      [
        [3, 1],
        [3, 2],
      ],
    );
    const statements: { sql: string; parameters: readonly SqlValue[] }[] = [];
    await database.read(async (db) => {
      const watched: Reader = {
        engine: db.engine,
        query: (sql, parameters = []) => {
          if (!sql.startsWith('SET')) statements.push({ sql, parameters });
          return db.query(sql, parameters);
        },
        queryStored: (sql, parameters) => db.queryStored(sql, parameters),
      };
      for (const direction of ['awaited', 'waiting'] as const)
        await readLinks(watched, { direction, from: [1], maxTasks: 9, maxLinks: 9 });
      await requireTasks(watched, ['T-0001', 'T-0002']);
      await findTokenedTask(watched, 'T-0003');
      await listUnmet(watched, 3);
      await listChildren(watched, 3, 500);
      await listFreeTasks(watched, { project: 'default', limit: 20, actor: 'anyone' });
      await listBlocked(watched, { project: 'default', limit: 20 }, { liveness: database, at: '', ttlMs: undefined });
    });
    const written: Transaction = {
      ...notAsked,
      engine: database.engine,
      send: (sql, parameters = []) => void statements.push({ sql, parameters }),
    };
    storeUnmet(written, 3, 2, 1);
    addChild(written, 'T-0003');
    removeChild(written, 'T-0003');
    removeAwaited(written, 1, 'T-0003');
    removeAwaited(written, 1, null);
    expect(statements.length).toBeGreaterThanOrEqual(20);
    for (const { sql, parameters } of statements) expect(await scansOf(sql, parameters), sql).toEqual([]);
    expect(await scansOf('SELECT * FROM tasks WHERE title = $1', ['x'])).toHaveLength(1);
  });
});

const refuse = () => Promise.reject(new Error('these statements ask nothing'));
const notAsked = {
  query: refuse,
  queryStored: refuse,
  run: refuse,
  schemaVersion: refuse,
  setSchemaVersion: refuse,
  sendAtCommit: () => undefined,
};

/** The tables that a statement would read from one end to the other, although an index may be used. */
async function scansOf(sql: string, parameters: readonly SqlValue[]): Promise<string[]> {
  const lines = await database.read(async (db) => {
    if (isSqlite())
      return (await db.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, parameters)).map(({ detail }) => detail);
    // The tables are small; without this the server would rather read them whole.
    await db.query('SET LOCAL enable_seqscan = off');
    return (await db.query<Record<string, string>>(`EXPLAIN ${sql}`, parameters)).flatMap((row) => Object.values(row));
  });
  return lines.filter((line) =>
    /SCAN (tasks|task_dependencies|task_unmet|awaited|child|other|d|t)\b(?! USING INDEX tasks_(ready|waiting|blocked))|Seq Scan on (tasks|task_)|hashed/.test(
      line,
    ),
  );
}
