import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const dist = fileURLToPath(new URL('..', import.meta.url));

/** On the project's disk: the system's temporary folder may be in memory, where a commit costs nothing. */
export class Workplace {
  readonly #folder = mkdtempSync(join(dist, 'bench', 'run-'));
  readonly #clients: Client[] = [];

  path(name: string): string {
    return join(this.#folder, name);
  }

  /** Starts a program of dist/ and connects to it; its tools are listed, so that the client checks every answer. */
  async connect(program: string, { args = [], env = {} }: StartOptions = {}): Promise<Client> {
    const client = new Client({ name: 'bench', version: '0' }, CLIENT_OPTIONS);
    const { command, env: environment } = this.command(program, env);
    await client.connect(
      new StdioClientTransport({ command, args: [join(dist, program), ...args], env: environment, stderr: 'inherit' }),
    );
    await client.listTools();
    this.#clients.push(client);
    return client;
  }

  command(program: string, env: Record<string, string> = {}) {
    const quiet = { COLIBRI_LOG_LEVEL: 'warn', COLIBRI_DB_PATH: this.path('ledger.db'), ...env };
    return { command: process.execPath, args: [join(dist, program)], env: { ...inherited(), ...quiet } };
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export interface StartOptions {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

/** BENCH_NEWEST=1 speaks the newest revision, which puts more into every message; clients default to the older one. */
const CLIENT_OPTIONS = process.env['BENCH_NEWEST'] ? { versionNegotiation: { mode: 'auto' as const } } : {};

function inherited(): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME };
}

/** Connects to the program on an existing ledger. */
export async function startClient(place: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  const env = { ...process.env, ...place, COLIBRI_LOG_LEVEL: 'error' } as Record<string, string>;
  await client.connect(new StdioClientTransport({ command: process.execPath, args: ['dist/colibri.cjs'], env }));
  await client.listTools();
  return client;
}
