import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { type Agent, createAgent } from './agent.ts';
import { tempFolder } from './folders.ts';
import { databaseAt, ledgerAt } from './ledger-targets.ts';
import { assertWhole } from './test-server.ts';

export interface ClientProcess extends Agent {
  readonly pid: number;
  /** Ends as a client ends its server: by closing its input. */
  close(): Promise<void>;
  /** Resolves once the process is gone. */
  kill(): Promise<void>;
}

export interface LaunchOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Clients with servers of their own processes on one ledger, on either engine. The ledger is verified at the end. */
export async function withClientProcesses(
  work: (launch: (client: string, options?: LaunchOptions) => Promise<ClientProcess>, path: string) => Promise<void>,
): Promise<void> {
  const path = join(tempFolder(), 'colibri.db');
  const place = await ledgerAt(path);
  const launched: ClientProcess[] = [];
  const home = tempFolder();
  await work(async (client, { cwd = home, env = {} } = {}) => {
    const started = await launchClient(client, cwd, { ...place, ...env });
    launched.push(started);
    return started;
  }, path);
  await Promise.all(launched.map((client) => client.close()));
  const database = await openDatabase({
    mode: 'READONLY',
    ...(await databaseAt(path)),
    durability: 'full',
    readOnly: true,
  });
  onTestFinished(() => database.close());
  await assertWhole(database);
}

export async function launchClient(name: string, cwd: string, env: Record<string, string>): Promise<ClientProcess> {
  const client = new Client({ name, version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [resolve('dist/colibri.js')],
    cwd,
    env: { COLIBRI_LOG_LEVEL: 'error', COLIBRI_DURABILITY: 'relaxed', ...env },
  });
  await client.connect(transport);
  const gone = new Promise<void>((done) => {
    client.onclose = done;
  });
  onTestFinished(() => client.close());
  const pid = transport.pid as number;
  return {
    ...createAgent(client),
    pid,
    close: () => client.close(),
    kill: () => {
      process.kill(pid, 'SIGKILL');
      return gone;
    },
  };
}
