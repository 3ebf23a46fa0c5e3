import {
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { CallContext } from '../context.ts';
import type { Chain } from '../middleware/call.ts';
import { runCall } from '../middleware/chain.ts';
import { isAdmitted } from '../modes.ts';
import type { Tool } from '../tool.ts';
import { type Definition, defineForClients } from './tool-listing.ts';

/** What a client can reach through the protocol: two requests, tools/list and tools/call. */
export interface Door {
  readonly chain: Chain;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Resolves when every tool is there. */
  readonly whenLoaded: () => Promise<void>;
  readonly version: string;
  readonly agentId: string | undefined;
  readonly instructions: string | undefined;
  /** Runs a call and tells the transport when it has ended, which a cancelled one never shows by an answer. */
  readonly track: <Result>(id: RequestId, call: () => Promise<Result>) => Promise<Result>;
}

export interface Connection {
  isOpen(): boolean;
  close(): Promise<void>;
}

/** Resolves when the transport has started. Both generations of the protocol are served on it. */
export async function connect(transport: Transport, timeoutMs: number, door: Door): Promise<Connection> {
  const definitions = memoize(() => listDefinitions(door));
  let isOpen = true;
  const started = whenStarted(transport);
  // The factory runs once for each generation that a client tries: it must be cheap and hold no state.
  const handle = serveStdio(() => createProtocolServer(door, definitions), {
    transport,
    onerror: (error) => door.chain.log('warn', 'connection', { message: error.message }),
  });
  // Of the transport, not of a protocol server: one that a client only probed is closed while the connection lives on.
  const { onclose } = transport;
  transport.onclose = () => {
    isOpen = false;
    onclose?.();
  };
  await within(timeoutMs, started);
  return { isOpen: () => isOpen, close: () => handle.close() };
}

function createProtocolServer(door: Door, definitions: () => Definition[]): Server {
  const server = new Server(
    { name: 'colibri', title: 'Colibri', version: door.version },
    {
      capabilities: { tools: {} },
      ...(door.instructions === undefined ? {} : { instructions: door.instructions }),
      cacheHints: { 'tools/list': { ttlMs: 3_600_000, cacheScope: 'public' } },
    },
  );
  server.setRequestHandler('tools/list', async () => {
    await door.whenLoaded();
    return { tools: definitions() };
  });
  server.setRequestHandler('tools/call', ({ params }, context) =>
    door.track(context.mcpReq.id, async () => {
      await door.whenLoaded();
      const tool = door.tools.get(params.name);
      const name = bounded(params.name);
      const answer = await runCall(door.chain, {
        name,
        tool,
        rawInput: params.arguments ?? {},
        actor: door.agentId ?? clientName(server, context),
        progress: progressReporter(context),
        signal: context.mcpReq.signal,
      });
      if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
      const { structuredContent, text, isError } = answer;
      return { content: [{ type: 'text', text }], structuredContent, ...(isError ? { isError } : {}) };
    }),
  );
  return server;
}

const MAX_NAME_LENGTH = 128;

/**
 * Cut first: the cut may leave half of a surrogate pair, which no entry of the ledger can hold. Nor can a text of
 * PostgreSQL hold NUL.
 */
function bounded(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Only what the mode admits; computed once, since it cannot change. */
function listDefinitions({ tools, chain }: Door): Definition[] {
  return [...tools.values()].filter((tool) => isAdmitted(chain.runtime.configuredMode, tool)).map(defineForClients);
}

/** The 2026 generation names the client on every request, the 2025 one at the handshake. */
function clientName(server: Server, context: ServerContext): string {
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
  const info = envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const name = typeof info === 'object' && info !== null && 'name' in info ? String(info.name) : '';
  return bounded(name) || 'unknown';
}

function progressReporter(context: ServerContext): CallContext['progress'] {
  const token = context.mcpReq._meta?.progressToken;
  if (token === undefined) return () => undefined;
  return (progress, total, message) => {
    const params = { progressToken: token, progress, total, ...(message === undefined ? {} : { message }) };
    // A client that went away loses its progress, never its call.
    context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** serveStdio starts the transport and does not say when that is done. */
function whenStarted(transport: Transport): Promise<void> {
  const start = transport.start.bind(transport);
  return new Promise((resolve, reject) => {
    transport.start = async () => {
      try {
        await start();
        resolve();
      } catch (error) {
        reject(error);
        throw error;
      }
    };
  });
}

export class StartupTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`startup timeout exceeded (${timeoutMs} ms); set COLIBRI_STARTUP_TIMEOUT_MS to allow more`);
    this.name = 'StartupTimeout';
  }
}

export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StartupTimeout(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function memoize<Value>(compute: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= compute());
}
