import { join } from 'node:path';
import type { Database } from '../../../src/db/database.ts';
import { assertWhole, openServer, type TestServer, withFolder } from '../test-server.ts';

/** Agents on one ledger, each a server of its own. */
export interface Crew {
  readonly alice: TestServer;
  readonly bob: TestServer;
  readonly carol: TestServer;
  /** Makes the last signs of life of an actor older, as if it had been silent for so long. */
  readonly silence: (actor: string, ms: number) => Promise<void>;
}

/** The settings of a crew whose claims lapse after two hours of silence. */
export const TTL = { COLIBRI_CLAIM_TTL: '2h' };
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

const NAMES = ['alice', 'bob', 'carol'] as const;

/** Runs a test with three agents on a new ledger and verifies all of it at the end. */
export async function withCrew(
  work: (crew: Crew) => Promise<void>,
  settings: { readonly COLIBRI_CLAIM_TTL?: string; readonly COLIBRI_WORKFLOW?: string } = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, 'colibri.db');
    const servers: TestServer[] = [];
    for (const name of NAMES) servers.push(await openServer(path, name, { settings }));
    const [alice, bob, carol] = servers as [TestServer, TestServer, TestServer];
    try {
      await work({ alice, bob, carol, silence: (actor, ms) => silence(bob.database, actor, ms) });
      await assertWhole(bob.database);
    } finally {
      for (const server of servers) await server.close();
    }
  });
}

/** Creates a task that the agent claims. */
export async function claimed(agent: TestServer, input: object = {}) {
  const { task_id } = await agent.createTask({ title: 'a task', status: 'todo', ...input });
  const status = 'workflow' in input ? 'GATHER' : 'in_progress';
  const { claim = -1 } = await agent.updateTask({ task_id, status });
  return { task_id, claim };
}

export async function silence(database: Database, actor: string, ms: number): Promise<void> {
  await database.write({ durable: false }, async (transaction) => {
    await transaction.query('UPDATE presence SET clock_ms = clock_ms - $2 WHERE actor = $1', [actor, ms]);
  });
}
