import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

/** How a client starts the server: as its configuration file would say it. */
export interface Launch {
  readonly command: string;
  readonly args: string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
}

export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown> | undefined;
}

/** What the official clients have in common. */
export interface Connected {
  /** The revision of the protocol that both sides agreed on. */
  readonly revision: string | undefined;
  readonly serverVersion: string | undefined;
  listTools(): Promise<readonly ListedTool[]>;
  callTool(name: string, args: Record<string, unknown>): Promise<CallResult>;
  listResources(): Promise<{ uris: string[]; templates: string[]; prompts: string[] }>;
  readResource(uri: string): Promise<unknown>;
  getPrompt(name: string, args: Record<string, string>): Promise<unknown>;
  close(): Promise<void>;
}

export interface CallResult {
  readonly structuredContent?: unknown;
  readonly content?: unknown;
  readonly isError?: unknown;
}

export const NEWEST = '2026-07-28';
export const LATEST_OF_2025 = '2025-11-25';

const IDENTITY = { name: 'official-client', version: '1' };

export const CLIENTS: readonly [what: string, revision: string, open: (launch: Launch) => Promise<Connected>][] = [
  ['the client of the first generation', LATEST_OF_2025, openOlder],
  ['the current client with the 2025 handshake', LATEST_OF_2025, (launch) => openCurrent(launch, 'legacy')],
  ['the current client that insists on the newest revision', NEWEST, (launch) => openCurrent(launch, { pin: NEWEST })],
  ['the current client that finds out the revision', NEWEST, (launch) => openCurrent(launch, 'auto')],
];

export async function openCurrent(
  launch: Launch,
  mode: 'legacy' | 'auto' | { pin: string } = 'legacy',
): Promise<Connected> {
  const client = new Client(IDENTITY, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ ...launch, stderr: 'ignore' }));
  return {
    revision: client.getNegotiatedProtocolVersion(),
    serverVersion: client.getServerVersion()?.version,
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    ...libraryOf(client),
    close: () => client.close(),
  };
}

async function openOlder(launch: Launch): Promise<Connected> {
  const client = new OlderClient(IDENTITY);
  const transport = new OlderTransport({ ...launch, stderr: 'ignore' });
  let revision: string | undefined;
  // This client passes the negotiated version only to its transport.
  Object.assign(transport, {
    setProtocolVersion: (version: string) => {
      revision = version;
    },
  });
  await client.connect(transport);
  return {
    revision,
    serverVersion: client.getServerVersion()?.version,
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args) => (await client.callTool({ name, arguments: args })) as CallResult,
    ...libraryOf(client),
    close: () => client.close(),
  };
}

/** Both generations of clients have these methods, with the same shapes. */
function libraryOf(client: Client | OlderClient): Pick<Connected, 'listResources' | 'readResource' | 'getPrompt'> {
  return {
    listResources: async () => ({
      uris: (await client.listResources()).resources.map(({ uri }) => uri),
      templates: (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
    }),
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
  };
}
