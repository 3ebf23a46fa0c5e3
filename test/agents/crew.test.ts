import { join } from 'node:path';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { judge } from '../support/crew.ts';
import { tempFolder } from '../support/folders.ts';
import { databaseAt, ledgerAt } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { SimulatedCrew } from '../support/simulated-crew.ts';
import { assertWhole } from '../support/test-server.ts';

const TTL = { ttl: '1s', ttlMs: 1000 };
const SIZE = inject('isTorture') ? { agents: 8, tasks: 500, accidents: 400 } : { agents: 8, tasks: 20, accidents: 10 };

describe('a simulated crew', () => {
  for (const seed of inject('isTorture') ? [1, 2, 3] : [1])
    promiseTest('agents/crew', `${SIZE.agents} agents, ${SIZE.tasks} tasks, seed ${seed}`, async () => {
      const path = join(tempFolder(), 'colibri.db');
      const crew = new SimulatedCrew({ ...SIZE, ...TTL, seed, place: await ledgerAt(path) });
      await crew.run();
      expect(crew.surprises).toEqual([]);
      const place = await databaseAt(path);
      const database = await openDatabase({ mode: 'READONLY', ...place, durability: 'full', readOnly: true });
      onTestFinished(() => database.close());
      const verdict = await database.read((reader) =>
        judge(reader, { ttlMs: TTL.ttlMs, clockErrorOf: (actor) => crew.clockErrorOf(actor) }),
      );
      expect(verdict.problems).toEqual([]);
      expect(verdict.done).toBe(SIZE.tasks);
      // At least that of the agent that never came back.
      expect(verdict.takeovers).toBeGreaterThanOrEqual(1);
      await assertWhole(database);
    });
});
