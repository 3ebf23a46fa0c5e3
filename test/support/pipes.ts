import { PassThrough } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioTransport } from '../../src/wire/stdio.ts';

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
