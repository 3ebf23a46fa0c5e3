import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect } from 'vitest';
import { type Agent, createAgent } from '../support/agent.ts';
import { ledgerAt } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';
import { openFile } from '../support/sample-ledgers.ts';
import { assertWhole, withFolder } from '../support/test-server.ts';

const PROCESSES = 4;
const THOUGHTS = 40;

describe('four processes on one ledger', () => {
  promiseTest('trail/one-chain', 'every position exists once, links to the previous one, and verifies', () =>
    withProcesses(async (agents, path) => {
      const [first] = agents as [Agent, ...Agent[]];
      await first.createTask({ title: 'a task' });
      await first.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      const recorded = await Promise.all(
        agents.map(async (agent, number) => {
          const own: Awaited<ReturnType<Agent['recordThought']>>[] = [];
          for (let count = 0; count < THOUGHTS; count += 1)
            own.push(
              await agent.recordThought({ task_id: 'T-0001', type: 'decision', content: `${number} says ${count}` }),
            );
          return own;
        }),
      );
      const chain = recorded.flat().toSorted((a, b) => a.chain_position - b.chain_position);
      expect(chain.map(({ chain_position }) => chain_position)).toEqual(chain.map((_, index) => index + 1));
      expect(chain.map(({ previous_hash }) => previous_hash)).toEqual([
        null,
        ...chain.slice(0, -1).map(({ hash }) => hash),
      ]);
      expect(new Set(chain.map(({ thought_id }) => thought_id)).size).toBe(PROCESSES * THOUGHTS);
      expect(new Set(chain.map(({ recorded_by }) => recorded_by)).size).toBe(PROCESSES);
      for (const own of recorded)
        expect(own.map(({ chain_position }) => chain_position)).toEqual(
          own.map(({ chain_position }) => chain_position).toSorted((a, b) => a - b),
        );
      const sealed = await first.finalize({ session_id: 'A-0001' });
      expect(sealed.leaf_count).toBe(PROCESSES * THOUGHTS);
      expect(await first.verifyChain({ task_id: 'T-0001', session_id: 'A-0001' })).toMatchObject({
        total_records: 2 * PROCESSES * THOUGHTS,
        integrity_score: 100,
      });
      await verifyFile(path);
    }),
  );

  promiseTest('trail/one-live', 'of processes that start a session at the same time exactly one succeeds', () =>
    withProcesses(async (agents, path) => {
      const [first] = agents as [Agent, ...Agent[]];
      for (let round = 1; round <= 8; round += 1) {
        const { task_id } = await first.createTask({ title: `task ${round}` });
        const input = { task_id, auditor_id: 'auditor' };
        const started = await Promise.allSettled(agents.map((agent) => agent.startSession(input)));
        const winners = started.filter((result) => result.status === 'fulfilled');
        expect(winners).toHaveLength(1);
        for (const result of started)
          if (result.status === 'rejected')
            expect(String(result.reason)).toMatch(`already has the live session ${winners[0]?.value.session_id}`);
      }
      await verifyFile(path);
    }),
  );

  promiseTest('proofs/seal', 'a record at the same time as a seal is either sealed or refused', () =>
    withProcesses(async (agents, path) => {
      const [first, ...others] = agents as [Agent, ...Agent[]];
      await first.createTask({ title: 'a task' });
      await first.startSession({ task_id: 'T-0001', auditor_id: 'auditor' });
      const thought = { task_id: 'T-0001', session_id: 'A-0001', type: 'decision', content: 'Just in time?' };
      await first.recordThought(thought);
      const taken = others.map(async (agent) => {
        for (let count = 0; ; count += 1) {
          const isTaken = await agent.recordThought(thought).then(
            () => true,
            (error: Error) => !error.message.includes('ERR_SESSION_FINALIZED'),
          );
          if (!isTaken) return count;
        }
      });
      const sealed = await first.finalize({ session_id: 'A-0001' });
      const counts = await Promise.all(taken);
      expect(sealed.leaf_count).toBe(1 + counts.reduce((sum, count) => sum + count, 0));
      await verifyFile(path);
    }),
  );
});

async function withProcesses(work: (agents: readonly Agent[], path: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, 'colibri.db');
    const clients: Client[] = [];
    try {
      for (let number = 0; number < PROCESSES; number += 1) {
        const client = new Client({ name: `agent-${number}`, version: '1' });
        const env = { ...(await ledgerAt(path)), COLIBRI_LOG_LEVEL: 'error', COLIBRI_DURABILITY: 'relaxed' };
        await client.connect(new StdioClientTransport({ command: process.execPath, args: ['dist/colibri.cjs'], env }));
        clients.push(client);
      }
      await work(clients.map(createAgent), path);
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  });
}

async function verifyFile(path: string): Promise<void> {
  const database = await openFile(path);
  try {
    await assertWhole(database);
  } finally {
    await database.close();
  }
}
