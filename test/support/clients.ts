import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { onTestFinished } from 'vitest';
import { cleanEnvironment, PROGRAM, type ProgramOptions } from './program.ts';

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
