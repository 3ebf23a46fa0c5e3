import {
  type BaseContext,
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
import type { Answer } from '../envelope.ts';
import type { Chain } from '../middleware/call.ts';
import { runCall } from '../middleware/chain.ts';
import type { Library } from '../middleware/library.ts';
import { isAdmitted } from '../modes.ts';
import { toAgentName } from '../text/reserved-name.ts';
import type { Tool } from '../tool.ts';
import { LIBRARY_CAPABILITIES, LIBRARY_METHODS, serveLibrary } from './library.ts';
import { within } from './startup-timeout.ts';
import { parseToolCall } from './tool-call.ts';
import { listTool, type ToolListing } from './tool-listing.ts';

/** What `tools/list` and `tools/call` are served from. */
export interface Service {
  readonly chain: Chain;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Resolves when every tool is registered. */
  readonly whenLoaded: () => Promise<void>;
  readonly version: string;
  readonly agentId: string | undefined;
  readonly instructions: string | undefined;
  /** Resources and prompts; without it the server has none. */
  readonly library: (() => Promise<Library>) | undefined;
  /** Runs a call and tells the transport when it ends; a cancelled call sends no answer that would show it. */
  readonly track: <Result>(id: RequestId, call: () => Promise<Result>) => Promise<Result>;
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
    const { name, input, defect } = parseToolCall(params);
    return service.track(context.mcpReq.id, async () => {
      await service.whenLoaded();
      const tool = service.tools.get(name);
      const shownName = tool?.name ?? truncate(name);
      const answer = await runCall(service.chain, {
        name: shownName,
        tool,
        rawInput: input,
        ...(defect === undefined ? {} : { defect }),
        actor: actorOf(context),
        progress: progressReporter(context),
        signal: context.mcpReq.signal,
      });
      if (defect !== undefined) throw invalidCall(defect);
      if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shownName}`);
      const { structuredContent, text, isError, exit } = answer;
      const receipt = exit && createReceipt(service.chain, shownName, exit);
      return {
        content: [{ type: 'text', text }],
        structuredContent,
        ...(isError ? { isError } : {}),
        ...(receipt === undefined ? {} : { _meta: { [RECEIPT_KEY]: receipt } }),
      };
    });
  };
  return server;
}

/** What the client can hold against a changed log: where its call ended, and the newest statement about the log. */
function createReceipt({ runtime }: Chain, tool: string, { index, leaf }: NonNullable<Answer['exit']>): object {
  const { checkpoint } = runtime;
  runtime.committed(tool, index + 1);
  return { index, leaf, ...(checkpoint === undefined ? {} : { checkpoint }) };
}

function invalidCall(problem: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid tools/call request: ${problem}`);
}

/** The lists do not change while the server runs. */
const STATIC = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

const RECEIPT_KEY = 'colibri/receipt';

const MAX_NAME_LENGTH = 128;
const CONTROL = /\p{Cc}/gu;
/** The assignee of tasks that no one has. */
const NO_AGENT = 'unassigned';

/**
 * Truncates before it repairs, because truncation can split a surrogate pair, which no entry can contain. PostgreSQL
 * cannot store NUL in a text, and a line break or an escape sequence in a name would forge what people read.
 */
function truncate(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed().replaceAll(CONTROL, '\uFFFD');
}

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

/** The name under which the calls of a client are recorded. */
function toClientName(given: string): string {
  const own = truncate(given).trim();
  return own === '' || own === NO_AGENT ? 'unknown' : toAgentName(own);
}

function progressReporter(context: ServerContext): CallContext['progress'] {
  const token = context.mcpReq._meta?.progressToken;
  if (token === undefined) return () => undefined;
  return (progress, total, message) => {
    const params = { progressToken: token, progress, total, ...(message === undefined ? {} : { message }) };
    // A client that disconnected must not fail its call.
    context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
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
