import { PassThrough } from 'node:stream';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import {
  type AuditSink,
  type ColibriServerContext,
  type ColibriToolConfig,
  type CreateServerOptions,
  createServer,
  registerColibriTool,
  start,
  stop,
  type ToolEnterEvent,
  type ToolExitEvent,
} from '../../src/server.ts';
import { StdioTransport } from '../../src/wire/stdio.ts';

/** Keeps the events, and fails where a test asks for it. */
export class RecordingSink implements AuditSink {
  readonly enters: ToolEnterEvent[] = [];
  readonly exits: ToolExitEvent[] = [];
  /** What happened, in order: `enter echo`, `exit echo ok`. */
  readonly story: string[] = [];
  enterThrows: unknown;
  exitThrows: unknown;

  enter(event: ToolEnterEvent): void {
    if (this.enterThrows !== undefined) throw this.enterThrows;
    this.enters.push(event);
    this.story.push(`enter ${event.tool}`);
  }

  exit(event: ToolExitEvent): void {
    if (this.exitThrows !== undefined) throw this.exitThrows;
    this.exits.push(event);
    this.story.push(`exit ${event.tool} ${event.outcome}`);
  }
}

export type Register = (
  name: string,
  handler?: (args: Record<string, unknown>) => unknown,
  config?: Partial<ColibriToolConfig>,
) => void;

interface MemoryServer {
  readonly server: ColibriServerContext;
  readonly client: Client;
  readonly sink: RecordingSink;
  /** The log, one parsed line each. */
  readonly log: Record<string, unknown>[];
}

interface MemoryServerOptions extends CreateServerOptions {
  readonly client?: ClientOptions;
  readonly clientName?: string;
  readonly tools?: (register: Register) => void;
  /** False: calls go to the sink that boot provides. */
  readonly ownSink?: boolean;
}

/** A server and a real client, joined in memory; both are closed when the test ends. */
export async function openMemoryServer(serverOptions: MemoryServerOptions): Promise<MemoryServer> {
  const { client: clientOptions, clientName = 'test-client', tools, ownSink = true, ...options } = serverOptions;
  const [near, far] = InMemoryTransport.createLinkedPair();
  const sink = new RecordingSink();
  const log: Record<string, unknown>[] = [];
  const server = createServer({
    mode: 'FULL',
    ...(ownSink ? { auditSink: sink } : {}),
    logger: (line) => log.push(JSON.parse(line) as Record<string, unknown>),
    installGlobalHandlers: false,
    ...options,
    transport: far,
  });
  tools?.((name, handler = () => ({ ran: name }), config = {}) =>
    registerColibriTool(server, name, { inputSchema: z.strictObject({}), access: 'none', ...config }, handler),
  );
  await start(server);
  const client = new Client({ name: clientName, version: '1' }, clientOptions);
  await client.connect(near);
  onTestFinished(async () => {
    await client.close();
    await stop(server);
  });
  return { server, client, sink, log };
}

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details?: Record<string, unknown>;
  readonly [fact: string]: unknown;
}

/** An answer as a client reads it. */
export interface Answered {
  readonly ok: boolean;
  readonly data?: unknown;
  readonly error?: Failure;
  readonly isError: boolean;
  /** The text content: the same JSON, after one sentence if the call failed. */
  readonly text: string;
}

export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Answered> {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
  const [first] = content as { type: string; text: string }[];
  return {
    ...(structuredContent as Omit<Answered, 'isError' | 'text'>),
    isError: isError ?? false,
    text: first?.text ?? '',
  };
}

export interface Pipes {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly transport: StdioTransport;
  /** What the transport took for messages. */
  readonly received: JSONRPCMessage[];
  readonly errors: string[];
  /** What it has written, one parsed line each. */
  readonly sent: () => Record<string, unknown>[];
}

/** A transport between two pipes that a test holds the other ends of. */
export async function openPipes(): Promise<Pipes> {
  const pipes = createPipes();
  await pipes.transport.start();
  return pipes;
}

/** The same before it is started, for a server to start. */
export function createPipes(): Pipes {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new StdioTransport(input, output);
  const received: JSONRPCMessage[] = [];
  const errors: string[] = [];
  let written = '';
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString('utf8');
  });
  transport.onmessage = (message) => received.push(message);
  transport.onerror = ({ message }) => errors.push(message);
  const sent = () =>
    written
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { input, output, transport, received, errors, sent };
}

/** Long enough for a pipe in memory to hand on what was written to it. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function request(id: number | string, params: Record<string, unknown> = {}) {
  return { jsonrpc: '2.0' as const, id, method: 'tools/call', params };
}

export function line(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}
