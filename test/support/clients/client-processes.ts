import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/trust/open-database.ts';
import { type Agent, createAgent } from '../agent.ts';
import { tempFolder } from '../folders.ts';
import { databaseAt, ledgerAt } from '../ledger-targets.ts';
import { cleanEnvironment, PROGRAM, type ProgramOptions } from '../program.ts';
import { assertWhole } from '../test-server.ts';

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
  /**
   * Starts the server through a shell, as npx does: every start has another parent. Such a server is closed, not
   * killed.
   */
  readonly isWrapped?: boolean;
}

/** Clients with servers of their own processes on one ledger, on either engine. The ledger is verified at the end. */
export async function withClientProcesses(
  work: (launch: (client: string, options?: LaunchOptions) => Promise<ClientProcess>, path: string) => Promise<void>,
): Promise<void> {
  const path = join(tempFolder(), 'colibri.db');
  const place = await ledgerAt(path);
  const launched: ClientProcess[] = [];
  const home = tempFolder();
  await work(async (client, { cwd = home, env = {}, isWrapped = false } = {}) => {
    const started = await launchClient(client, cwd, { ...place, ...env }, isWrapped);
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

export async function launchClient(
  name: string,
  cwd: string,
  env: Record<string, string>,
  isWrapped = false,
): Promise<ClientProcess> {
  const client = new Client({ name, version: '1' });
  const program = [process.execPath, PROGRAM] as const;
  // The command after it keeps the shell from replacing itself.
  const [command, ...args] = isWrapped ? ['/bin/sh', '-c', '"$0" "$1"; exit $?', ...program] : program;
  const transport = new StdioClientTransport({
    command,
    args,
    cwd,
    env: { COLIBRI_KEY_PATH: 'none', COLIBRI_LOG_LEVEL: 'error', COLIBRI_DURABILITY: 'relaxed', ...env },
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

export type Generation = 'older client' | '2025 handshake' | '2026 revision' | 'probing client';

export const GENERATIONS: readonly Generation[] = ['older client', '2025 handshake', '2026 revision', 'probing client'];

export interface ToolAnswer {
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** The little of a client that tests of any generation need. */
export interface TestClient {
  call(tool: string, args?: Record<string, unknown>): Promise<ToolAnswer>;
  listTools(): Promise<string[]>;
  instructions(): string | undefined;
  close(): Promise<void>;
}

const INFO = { name: 'test-client', version: '1.0.0' };

/** Starts the program and connects to it, as an agent does; both end with the test. */
export async function connectClient(generation: Generation, options: ProgramOptions): Promise<TestClient> {
  const { cwd, env, program = PROGRAM, args = [] } = options;
  const parameters = {
    command: process.execPath,
    args: [program, ...args],
    cwd,
    env: cleanEnvironment(env),
    stderr: 'ignore' as const,
  } satisfies Parameters;
  const client =
    generation === 'older client' ? await connectOlder(parameters) : await connectNewer(generation, parameters);
  onTestFinished(() => client.close());
  return {
    call: async (tool, input = {}) => (await client.callTool({ name: tool, arguments: input })) as ToolAnswer,
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    instructions: () => client.getInstructions(),
    close: () => client.close(),
  };
}

type Parameters = ConstructorParameters<typeof OlderTransport>[0];

async function connectOlder(parameters: Parameters): Promise<OlderClient> {
  const client = new OlderClient(INFO);
  await client.connect(new OlderTransport(parameters));
  return client;
}

const MODES = {
  '2025 handshake': 'legacy',
  '2026 revision': { pin: '2026-07-28' },
  'probing client': 'auto',
} as const;

async function connectNewer(generation: keyof typeof MODES, parameters: Parameters): Promise<Client> {
  const client = new Client(INFO, { versionNegotiation: { mode: MODES[generation] } });
  await client.connect(new StdioClientTransport(parameters));
  return client;
}
