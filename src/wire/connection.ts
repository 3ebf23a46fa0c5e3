import {
  type BaseContext,
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Library } from '../middleware/library.ts';
import { isAdmitted } from '../modes.ts';
import { answerCall, type CallService } from './answer-call.ts';
import { toClientName } from './client-name.ts';
import { LIBRARY_CAPABILITIES, LIBRARY_METHODS, serveLibrary } from './library.ts';
import { within } from './startup-timeout.ts';
import { listTool, type ToolListing } from './tool-listing.ts';

/** What the requests of a client are served from. */
export interface Service extends CallService {
  readonly version: string;
  readonly agentId: string | undefined;
  readonly instructions: string | undefined;
  /** Resources and prompts; without it the server has none. */
  readonly library: (() => Promise<Library>) | undefined;
}

export interface Connection {
  isOpen(): boolean;
  close(): Promise<void>;
}

/** Serves both generations of the protocol. Resolves when the transport has started. */
export async function connect(transport: Transport, timeoutMs: number, service: Service): Promise<Connection> {
  const listings = memoize(() => listTools(service));
  let isOpen = true;
  const started = whenStarted(transport);
  // The factory runs once per generation that a client tries, so it must be cheap and stateless.
  const handle = serveStdio(() => createProtocolServer(service, listings), {
    transport,
    onerror: (error) => service.chain.log('warn', 'connection', { message: error.message }),
  });
  // Watches the transport, not a protocol server: one that was only probed is closed while the connection stays open.
  const { onclose } = transport;
  transport.onclose = () => {
    isOpen = false;
    onclose?.();
  };
  await within(timeoutMs, started);
  return { isOpen: () => isOpen, close: () => handle.close() };
}

/** Logs to stderr and asks the client for nothing, so that no request needs the functions that the SDK would add. */
class ProtocolServer extends Server {
  protected override buildContext(context: BaseContext): ServerContext {
    return context as ServerContext;
  }
}

function createProtocolServer(service: Service, listings: () => ToolListing[]): Server {
  const server = new ProtocolServer(
    { name: 'colibri', title: 'Colibri', version: service.version },
    {
      capabilities: { tools: {}, ...(service.library === undefined ? {} : LIBRARY_CAPABILITIES) },
      ...(service.instructions === undefined ? {} : { instructions: service.instructions }),
      cacheHints: Object.fromEntries(['tools/list', ...LIBRARY_METHODS].map((method) => [method, STATIC])),
    },
  );
  const toName = rememberLast(toClientName);
  const actorOf = (context: ServerContext) => service.agentId ?? toName(givenName(server, context));
  if (service.library !== undefined) serveLibrary(server, { ...service, library: service.library, actorOf });
  server.setRequestHandler('tools/list', async () => {
    await service.whenLoaded();
    return { tools: listings() };
  });
  // Not a handler of its own, which would match every request and every answer against the SDK's schemas again.
  server.fallbackRequestHandler = async ({ method, params }, context) => {
    if (method !== 'tools/call') throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    const { id, signal, notify } = context.mcpReq;
    return answerCall(service, { id, params, signal }, { actor: actorOf(context), notify });
  };
  return server;
}

/** The lists do not change while the server runs. */
const STATIC = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

/** The tools that the mode admits. A failed boot does not change the list. */
function listTools({ tools, chain }: Service): ToolListing[] {
  return [...tools.values()].filter((tool) => isAdmitted(chain.runtime.configuredMode, tool)).map(listTool);
}

/** Protocol 2026 names the client in every request, 2025 in the handshake. */
function givenName(server: Server, context: ServerContext): string {
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
  const info = envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  return typeof info === 'object' && info !== null && 'name' in info ? String(info.name) : '';
}

/** `serveStdio` starts the transport but does not report when it has started. */
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

/** For a function that is nearly always called with the same text. */
function rememberLast<Value>(compute: (text: string) => Value): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, value: compute(text) };
    return last.value;
  };
}

function memoize<Value>(compute: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= compute());
}
