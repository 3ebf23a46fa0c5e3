import { describe, expect } from 'vitest';
import { listForeignObjectsInPostgres } from '../../src/db/check-schema-postgres.ts';
import type { Reader, SqlValue } from '../../src/db/database.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { AT } from '../support/database.ts';
import { keeps } from '../support/keeps.ts';
import { newPostgresUrl, openTestPostgres } from '../support/postgres/database.ts';
import { runOn } from '../support/postgres/server.ts';

/** Enough rows that the server finds those with a parent in another way, as soon as it has counted them. */
const GROW = `
  INSERT INTO tasks (task_no, event_idx, project, sequence, workflow, status, is_open, is_ready, title, description,
                     priority, progress, assignee, labels, depends_on, attempt, created_at, created_by, updated_at, updated_by)
    SELECT n, n, 'default', n, 'board', 'todo', 1, 1, 'one of many', '', 2, 0, 'unassigned', '', '', 1, '', '', '', ''
    FROM generate_series(1, 3000) AS n;
  ANALYZE tasks`;

describe('the views of a ledger', () => {
  keeps('ledger/fresh', 'also when the server changes its plans while they are looked at', async () => {
    const url = await newPostgresUrl();
    const database = await openTestPostgres({ url });
    await openLedger(database, 'tester', AT);
    const plans: string[] = [];
    const found = await database.read((reader) =>
      listForeignObjectsInPostgres(
        watched(reader, async (plan) => {
          if (plans.push(plan) === 1) await runOn(url, GROW);
        }),
      ),
    );
    expect(new Set(plans).size).toBe(2);
    expect(found).toEqual([]);
  });
});

/** Tells how the server would read the view task_waits, each time that it is asked. */
function watched(reader: Reader, onPlan: (plan: string) => Promise<void>): Reader {
  return {
    engine: reader.engine,
    query: async <Shape>(sql: string, parameters?: readonly SqlValue[]) => {
      const rows = await reader.query<Shape>(sql, parameters);
      if (/^EXPLAIN.*task_waits$/s.test(sql)) await onPlan(JSON.stringify(rows));
      return rows;
    },
  };
}
