import { describe, expect, onTestFinished, vi } from 'vitest';
import { openPostgres } from '../../src/db/postgres/database.ts';
import type { Agent } from '../support/agent.ts';
import { ConcurrentAgents, launchAgent } from '../support/crew/concurrent-agents.ts';
import { Cluster } from '../support/postgres/cluster.ts';
import { newPostgresUrl, openTestPostgres } from '../support/postgres/database.ts';
import { promiseTest } from '../support/promise-test.ts';
import { sizeOf } from '../support/properties.ts';

vi.setConfig({ testTimeout: 180_000 });

const SERVERS = 8;
const ROUNDS = sizeOf({ test: 12, torture: 100 });
const CALLS = SERVERS * ROUNDS * 5;
/** Every restart costs the same, however many calls are made between two. */
const ROUNDS_WITH_CRASHES = sizeOf({ test: 12, torture: 50 });

describe('eight servers on one database', () => {
  promiseTest('team/one-log', `${CALLS} mixed calls lose no response`, async () => {
    const url = await newPostgresUrl();
    const agents = await launchAll(url);
    const day = new ConcurrentAgents(agents, ROUNDS);
    await day.play();
    expect([day.calls, day.failures]).toEqual([CALLS, 0]);
    const database = await openTestPostgres({ url });
    await day.check(database);
    const [counted] = await database.read((reader) =>
      reader.query<Record<string, number>>(
        `SELECT COUNT(*) AS calls, COUNT(DISTINCT process_id) AS servers, COUNT(exit_idx) AS exits,
                (SELECT COUNT(*) FROM ledger_entries) AS entries, (SELECT MAX(idx) FROM ledger_entries) AS last,
                (SELECT size FROM ledger_head) AS size
         FROM calls`,
      ),
    );
    expect(counted).toMatchObject({ calls: CALLS, servers: SERVERS, exits: CALLS });
    expect([counted?.['last'], counted?.['size']]).toEqual([(counted?.['entries'] ?? 0) - 1, counted?.['entries']]);
  });

  promiseTest('team/crash', 'PostgreSQL is killed with SIGKILL and restarted five times during the calls', async () => {
    const cluster = await Cluster.create();
    onTestFinished(() => cluster.stop());
    const agents = await launchAll(cluster.url(), 'ignore');
    const day = new ConcurrentAgents(agents, ROUNDS_WITH_CRASHES);
    const calls = SERVERS * ROUNDS_WITH_CRASHES * 5;
    const playing = day.play();
    for (const share of [0.1, 0.25, 0.4, 0.55, 0.7]) {
      await day.whenReached(calls * share);
      await cluster.kill();
      await cluster.restart();
    }
    await playing;
    expect(day.calls).toBe(calls);
    expect(day.failures).toBeGreaterThan(0);
    for (const agent of [...agents, ...agents]) expect((await agent.call('server_ping', {})).failure).toBeUndefined();
    const database = await openPostgres({ ...PATIENT, url: cluster.url() });
    onTestFinished(() => database.close());
    await day.check(database);
  });
});

const PATIENT = { readOnly: true, durability: 'full', busyTimeoutMs: 30_000, statementTimeoutMs: 60_000 } as const;

async function launchAll(url: string, stderr: 'inherit' | 'ignore' = 'inherit'): Promise<Agent[]> {
  const names = Array.from({ length: SERVERS }, (_, index) => `agent-${index}`);
  // At the same moment, on a database in which there is nothing yet.
  const agents = await Promise.all(names.map((name) => launchAgent({ COLIBRI_DATABASE_URL: url }, name, stderr)));
  onTestFinished(async () => {
    await Promise.all(agents.map(({ client }) => client.close()));
  });
  return agents;
}
