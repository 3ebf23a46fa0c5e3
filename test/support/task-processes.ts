import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { openDatabase } from '../../src/db/open.ts';
import { databaseAt, ledgerAt } from './ledger-place.ts';
import { type Agent, createAgent } from './task-agent.ts';
import { assertWhole } from './task-server.ts';

/** As many servers as there are names, each its own process with its own client, all on one ledger. */
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
  await client.connect(new StdioClientTransport({ command: process.execPath, args: ['dist/colibri.js'], env, stderr }));
  return createAgent(client);
}
