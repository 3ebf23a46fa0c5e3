import { describe, expect } from 'vitest';
import { claimTask, ran, withObserved } from '../../../test/evidence/observed-server.ts';
import { promiseTest } from '../../../test/support/promise-test.ts';
import type { Reader } from '../../db/database.ts';
import { findTask } from '../tasks/repository.ts';
import { findUnobserved } from '../tasks/review/observed-runs.ts';
import { readEvidence } from './repository.ts';

interface Statement {
  readonly sql: string;
  readonly parameters: readonly (string | number | null)[];
}

/** A reader that keeps the statements that pass it. */
function listening(reader: Reader, statements: Statement[]): Reader {
  return {
    engine: reader.engine,
    query: (sql, parameters = []) => {
      statements.push({ sql, parameters });
      return reader.query(sql, parameters);
    },
    queryStored: (sql, parameters) => reader.queryStored(sql, parameters),
  };
}

describe('evidence', () => {
  promiseTest('evidence/bounded', 'no statement scans the observations or the log, but for the newest ones', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimTask(observed);
      await report(ran('npm test'));
      const extras = { tests_run: ['npm test'], commit_sha: 'abcdef1' };
      await server.recordThought({ task_id, type: 'decision', content: 'why', ...extras });
      const statements: Statement[] = [];
      const plans = await server.database.read(async (db) => {
        const reader = listening(db, statements);
        await readEvidence(reader, 1);
        const task = await findTask(reader, task_id);
        if (task === undefined) throw new Error('no task');
        await findUnobserved(reader, task, { require_observed: ['make'] });
        const found: { sql: string; scans: string[] }[] = [];
        for (const { sql, parameters } of statements) {
          const plan = await db.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, parameters);
          const scans = plan
            .map(({ detail }) => detail)
            .filter((detail) => /^SCAN (?!newest|\(|CONSTANT)/.test(detail));
          found.push({ sql, scans });
        }
        return found;
      });
      expect(plans.length).toBeGreaterThan(5);
      // The walk from the newest row back ends at its offset.
      for (const { sql, scans } of plans)
        expect([sql, scans]).toEqual([sql, sql.includes('OFFSET') ? ['SCAN observations'] : []]);
    }),
  );

  promiseTest('evidence/bounded', 'only the newest observations of a task are compared, and the answer says so', () =>
    withObserved(async (observed) => {
      const { server, report } = observed;
      const task_id = await claimTask(observed);
      for (const command of ['make old', 'make', 'make', 'make new']) await report(ran(command));
      const tests_run = ['make old', 'make new'];
      await server.recordThought({ task_id, type: 'decision', content: 'why', tests_run });
      const states = async (limit?: number) => {
        const { items, observations } = await server.database.read((db) => readEvidence(db, 1, limit));
        return [...items.map(({ state }) => state), observations];
      };
      expect(await states()).toEqual(['observed', 'observed', undefined]);
      expect(await states(3)).toEqual(['said', 'observed', 5]);
      expect(await states(5)).toEqual(['observed', 'observed', undefined]);
    }),
  );
});
