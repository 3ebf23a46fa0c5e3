import { join } from 'node:path';
import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { CallRecorder } from '../../src/ledger/calls/recorder.ts';
import { enterEvent, exitEvent, processIdOf } from '../support/ledger.ts';
import { promiseTest } from '../support/promise-test.ts';
import { assertWhole, openServer, type TestServer, withFolder } from '../support/test-server.ts';

const REMEMBERED = 100;

/** One call of each agent, by processes that have ended. */
async function comeAndGo(database: Database, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) {
    const name = `visitor-${number}`;
    const recorder = new CallRecorder(database, processIdOf(name));
    await recorder.enter({ ...enterEvent(name), actor: name });
    await recorder.exit({ ...exitEvent(name), actor: name });
  }
}

async function listActors(server: TestServer): Promise<string[]> {
  const rows = await server.query<{ actor: string }>('SELECT actor FROM presence ORDER BY sequence_no');
  return rows.map(({ actor }) => actor);
}

promiseTest('agents/bounded', 'the last ones stay, and before them only live ones and those that hold a task', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'colibri.db');
    const holder = await openServer(path, 'holder');
    await holder.createTask({ title: 'kept', status: 'todo' });
    await holder.updateTask({ task_id: 'T-0001', status: 'in_progress' });
    await holder.close();
    const live = await openServer(path, 'live');
    await live.nextActions();
    await comeAndGo(live.database, 0, REMEMBERED + 20);
    const first = await openServer(path, 'first');
    const visitors = Array.from({ length: REMEMBERED }, (_, number) => `visitor-${number + 20}`);
    expect(await listActors(first)).toEqual(['holder', 'live', ...visitors]);
    await assertWhole(first.database);
    await first.nextActions();
    // Verification reports each of these rows if it is missing.
    for (const actor of ['holder', 'first', 'visitor-21'])
      expect(await first.verifyWith('DELETE FROM presence WHERE actor = $1', [actor])).toEqual([
        { place: expect.stringMatching(/^call \d+$/) as string, problem: 'is not listed in presence' },
      ]);
    await comeAndGo(live.database, 200, 200 + REMEMBERED);
    await live.updateTask({ task_id: 'T-0001', title: 'still kept' });
    const second = await openServer(path, 'second');
    expect((await listActors(second)).slice(0, 2)).toEqual(['holder', 'first']);
    expect(await listActors(second)).toHaveLength(REMEMBERED + 2);
    expect(await second.getTask({ task_id: 'T-0001' })).toMatchObject({ holder: 'holder' });
    await assertWhole(second.database);
    for (const server of [live, first, second]) await server.close();
  }),
);
