import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'vitest';
import type { Database } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/trust/open-database.ts';
import { type Agent, createAgent, type Reply } from '../agent.ts';
import { databaseAt, ledgerAt } from '../ledger-targets.ts';
import { PROGRAM } from '../program.ts';
import { assertWhole } from '../test-server.ts';

/** Starts one server for each name, each its own process with its own client, all on one ledger. */
export async function withAgents(
  names: readonly string[],
  work: (agents: readonly Agent[]) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-agents-'));
  const path = join(folder, 'colibri.db');
  const agents: Agent[] = [];
  try {
    const place = await ledgerAt(path);
    for (const name of names) agents.push(await launchAgent(place, name));
    await work(agents);
  } finally {
    await Promise.all(agents.map(({ client }) => client.close()));
  }
  const database = await openDatabase({
    mode: 'READONLY',
    ...(await databaseAt(path)),
    durability: 'full',
    readOnly: true,
  });
  try {
    await assertWhole(database);
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A server of its own process on the ledger that the environment names. */
export async function launchAgent(
  place: Readonly<Record<string, string>>,
  name: string,
  stderr: 'inherit' | 'ignore' = 'inherit',
): Promise<Agent> {
  const client = new Client({ name: 'tester', version: '1' });
  const env = { ...place, COLIBRI_AGENT_ID: name, COLIBRI_LOG_LEVEL: 'error' };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [PROGRAM], env, stderr }));
  return createAgent(client);
}

/** Several agents that work at the same time, and the responses that each of them got. */
export class ConcurrentAgents {
  readonly #agents: readonly Agent[];
  readonly #rounds: number;
  readonly #told = new Map<string, 'done' | 'not done' | 'in doubt'>();
  readonly #winners = new Map<string, string[]>();
  #waiting: { readonly calls: number; readonly wake: () => void }[] = [];
  calls = 0;
  failures = 0;

  constructor(agents: readonly Agent[], rounds: number) {
    this.#agents = agents;
    this.#rounds = rounds;
  }

  async play(): Promise<void> {
    await Promise.all(this.#agents.map((agent, index) => this.#work(agent, `agent-${index}`)));
  }

  /** Resolves when the agents together have made so many calls. */
  whenReached(calls: number): Promise<void> {
    return new Promise((wake) => this.#waiting.push({ calls, wake }));
  }

  /** The ledger must match the responses that the agents got. */
  async check(database: Database): Promise<void> {
    const rows = await database.read((reader) =>
      reader.query<{ task_id: string; title: string; assignee: string }>(
        "SELECT 'T-' || lpad(CAST(task_no AS TEXT), 4, '0') AS task_id, title, assignee FROM tasks",
      ),
    );
    for (const [title, told] of this.#told) {
      const found = rows.filter((row) => row.title === title).length;
      const allowed = { done: [1], 'not done': [0], 'in doubt': [0, 1] }[told];
      expect(allowed, `${title}: told ${told}, found ${found}`).toContain(found);
    }
    for (const [taskId, winners] of this.#winners) {
      expect(winners, taskId).toHaveLength(1);
      expect(rows.find(({ task_id }) => task_id === taskId)?.assignee).toBe(winners[0]);
    }
    const [calls] = await database.read((reader) =>
      reader.query<{ all: number; names: number; open: number }>(
        'SELECT COUNT(*) AS "all", COUNT(DISTINCT salt) AS names, COUNT(*) - COUNT(exit_idx) AS open FROM calls',
      ),
    );
    // Every call is recorded once, and no answered call is still open.
    expect(calls).toEqual({ all: calls?.names, names: calls?.names, open: 0 });
    await assertWhole(database);
  }

  async #work(agent: Agent, name: string): Promise<void> {
    for (let round = 0; round < this.#rounds; round += 1) {
      const title = `${name} round ${round}`;
      const created = await this.#call(agent, 'task_create', { title, status: 'todo', project: 'busy' });
      this.#told.set(title, toldBy(created));
      const next = await this.#call(agent, 'task_next_actions', { project: 'busy', limit: 3 });
      await this.#claim(agent, name, next);
      if (round % 5 === 0) await this.#record(agent, created);
      else {
        await this.#call(agent, 'task_list', { search: name, limit: 5 });
        await this.#call(agent, 'server_ping', {});
      }
    }
  }

  async #claim(agent: Agent, name: string, { data }: Reply): Promise<void> {
    const { next_actions = [] } = (data ?? {}) as { next_actions?: { task_id: string }[] };
    const task_id = next_actions[0]?.task_id ?? 'T-0001';
    const claimed = await this.#call(agent, 'task_update', { task_id, status: 'in_progress' });
    if (claimed.failure === undefined) this.#winners.set(task_id, [...(this.#winners.get(task_id) ?? []), name]);
  }

  async #record(agent: Agent, { data }: Reply): Promise<void> {
    const { task_id = 'T-0001' } = (data ?? {}) as { task_id?: string };
    await this.#call(agent, 'audit_session_start', { task_id, auditor_id: 'auditor' });
    await this.#call(agent, 'thought_record', { task_id, type: 'decision', content: 'Because it is next.' });
  }

  async #call(agent: Agent, tool: string, input: Record<string, unknown>): Promise<Reply> {
    const reply = await agent.call(tool, input);
    this.calls += 1;
    if (reply.failure !== undefined && !reply.failure.code.startsWith('ERR_')) this.failures += 1;
    const reached = this.#waiting.filter(({ calls }) => calls <= this.calls);
    this.#waiting = this.#waiting.filter(({ calls }) => calls > this.calls);
    for (const { wake } of reached) wake();
    return reply;
  }
}

function toldBy({ failure }: Reply): 'done' | 'not done' | 'in doubt' {
  if (failure === undefined) return 'done';
  return /may (?:or may not )?have been made/.test(failure.message) ? 'in doubt' : 'not done';
}
