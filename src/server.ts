import { setImmediate } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { type Config, describeLocation, readConfig } from './config.ts';
import type { WriteContext } from './context.ts';
import { serverConfig } from './db/locate.ts';
import type { Pulse, ServerFacts } from './domains/system/health.ts';
import { ColibriError } from './errors.ts';
import { FifoLock } from './fifo-lock.ts';
import { createLog, type LogLevel } from './log.ts';
import { type AuditSink, createNoOpAuditSink } from './middleware/audit.ts';
import type { Chain } from './middleware/call.ts';
import { createSinkTransactions } from './middleware/recorded-transaction.ts';
import { createStderrAudit } from './middleware/stderr-audit.ts';
import { admittedAccess, MODES, type Mode } from './modes.ts';
import { printError } from './print-error.ts';
import { type Booted, Runtime } from './runtime/runtime.ts';
import { createShutdown, installGlobalHandlers } from './runtime/shutdown.ts';
import type { Tool, ToolDescription } from './tool.ts';
import { readVersion } from './version.ts';
import { type Connection, connect, StartupTimeout, within } from './wire/connection.ts';
import { INSTRUCTIONS } from './wire/instructions.ts';
import { StdioTransport } from './wire/stdio.ts';

export type { AuditSink, ToolEnterEvent, ToolExitEvent } from './middleware/audit.ts';
export { createNoOpAuditSink } from './middleware/audit.ts';

export type ColibriToolConfig<Input extends z.ZodObject = z.ZodObject> = Omit<ToolDescription<Input>, 'name'>;

/** Every part of a server that a test or an embedder may want to replace. */
export interface CreateServerOptions {
  readonly auditSink?: AuditSink;
  readonly transport?: Transport;
  readonly version?: string;
  readonly mode?: Mode;
  /** The monotonic clock. */
  readonly nowMs?: () => number;
  readonly bootStartMs?: number;
  /** Receives one JSON line for each event. */
  readonly logger?: (line: string) => void;
  readonly logLevel?: LogLevel;
  /** Opens what the tools need, after the handshake; without it calls are recorded in `auditSink` from the start. */
  readonly boot?: (server: ColibriServerContext) => Promise<Booted>;
  /** More tools, made after the handshake, so that it need not wait for their schemas. */
  readonly loadTools?: () => Promise<readonly Tool[]>;
  readonly agentId?: string | undefined;
  readonly instructions?: string;
  readonly startupTimeoutMs?: number;
  readonly installGlobalHandlers?: boolean;
}

/** A server that was built; it does nothing before `start`. */
export interface ColibriServerContext {
  registerColibriTool(tool: Tool): void;
  start(): Promise<void>;
  stop(): Promise<void>;
  getVersion(): string;
  getMode(): Mode;
  isConnected(): boolean;
  /** In the order of registration, whether or not the mode admits them. */
  listTools(): readonly Tool[];
  readonly chain: Chain;
  readonly bootStartMs: number;
}

export function createServer(options: CreateServerOptions = {}): ColibriServerContext {
  return new ColibriServer(options);
}

/** Registers a tool behind the five stages; there is no other way in. */
export function registerColibriTool<Input extends z.ZodObject>(
  server: ColibriServerContext,
  name: string,
  config: ColibriToolConfig<Input>,
  handler: (args: z.output<Input>, context: WriteContext) => unknown,
): void {
  server.registerColibriTool({ ...config, name, handle: handler as Tool['handle'] });
}

export function start(server: ColibriServerContext): Promise<void> {
  return server.start();
}

export function stop(server: ColibriServerContext): Promise<void> {
  return server.stop();
}

const TOOL_NAME = /^[a-z_][a-z0-9_]*$/;

class ColibriServer implements ColibriServerContext {
  readonly chain: Chain;
  readonly bootStartMs: number;
  readonly #options: CreateServerOptions;
  readonly #version: string;
  readonly #transport: Transport;
  readonly #tools = new Map<string, Tool>();
  #connection: Connection | undefined;
  #loading: Promise<void> = Promise.resolve();
  #starting: Promise<void> | undefined;

  constructor(options: CreateServerOptions) {
    const logger = options.logger ?? printError;
    const nowMs = options.nowMs ?? (() => performance.now());
    this.#options = options;
    this.#version = options.version ?? readVersion();
    this.#transport = options.transport ?? createStdioTransport();
    this.bootStartMs = options.bootStartMs ?? nowMs();
    this.chain = {
      lock: new FifoLock(),
      log: createLog(options.logLevel ?? 'info', logger),
      nowMs,
      runtime: new Runtime({
        mode: assertMode(options.mode ?? readConfig().mode),
        now: () => new Date().toISOString(),
        fallbackAudit: createStderrAudit(logger),
      }),
    };
  }

  registerColibriTool(tool: Tool): void {
    if (!TOOL_NAME.test(tool.name)) throw new Error(`invalid tool name: ${tool.name}`);
    if (!(tool.inputSchema instanceof z.ZodObject)) throw new Error('inputSchema must be a Zod object');
    if (this.#tools.has(tool.name)) throw new Error(`tool already registered: ${tool.name}`);
    this.#tools.set(tool.name, tool);
  }

  /** A second start is the first one: two listeners on one transport would answer everything twice. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const { log, lock, runtime } = this.chain;
    const { startupTimeoutMs = 30_000, instructions, agentId } = this.#options;
    if (this.#options.installGlobalHandlers ?? true) installGlobalHandlers(log);
    log('info', 'starting', { mode: runtime.mode, version: this.#version });
    this.#connection = await connect(this.#transport, startupTimeoutMs, {
      chain: this.chain,
      tools: this.#tools,
      whenLoaded: () => this.#loading,
      version: this.#version,
      agentId,
      instructions,
      track: (id, call) => (this.#transport instanceof StdioTransport ? this.#transport.track(id, call) : call()),
    });
    this.#loading = this.#loadTools();
    let known: string | undefined;
    const report = (): void => {
      const { mode, phase, failure } = runtime;
      if (failure === undefined) log('info', 'ready', { mode, phase });
      // Once for each reason, however often it is met again.
      else if (failure.message !== known)
        log('error', 'degraded', { code: 'ERR_INIT_FAILED', mode, phase, error: failure });
      known = failure?.message;
    };
    void runtime.boot(lock, () => this.#boot(), report);
  }

  /** Answers what it has been asked, then closes the connection and the database. */
  async stop(): Promise<void> {
    if (this.#transport instanceof StdioTransport) await this.#transport.idle();
    await this.chain.lock.idle();
    // The SDK sends an answer some microtasks after the call ended, and only our own transport can say when.
    await setImmediate();
    if (this.#connection === undefined) await this.#transport.close();
    else await this.#connection.close();
    await this.chain.runtime.close();
  }

  getVersion(): string {
    return this.#version;
  }

  getMode(): Mode {
    return this.chain.runtime.mode;
  }

  isConnected(): boolean {
    return this.#connection?.isOpen() ?? false;
  }

  listTools(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  async #loadTools(): Promise<void> {
    for (const tool of (await this.#options.loadTools?.()) ?? []) this.registerColibriTool(tool);
  }

  async #boot(): Promise<Booted> {
    const { boot, auditSink } = this.#options;
    await this.#loading;
    const booted = await boot?.(this);
    const audit = auditSink ?? booted?.audit ?? createNoOpAuditSink();
    const ownTransactions = auditSink === undefined ? booted?.transactions : undefined;
    const database = booted?.database;
    return {
      ...booted,
      audit,
      transactions: ownTransactions ?? (database && createSinkTransactions(audit, database)),
    };
  }
}

/** The one place that hands out standard output: nothing else may write to it. */
function createStdioTransport(): StdioTransport {
  return new StdioTransport(process.stdin, process.stdout);
}

function assertMode(mode: Mode): Mode {
  if (MODES.includes(mode)) return mode;
  throw new ColibriError('ERR_INVALID_MODE', `"${mode}" is not one of ${MODES.join(', ')}`);
}

/** Exit codes of sysexits.h: a temporary failure, and a configuration error. */
const EXIT_TEMPORARY = 75;
const EXIT_CONFIG = 78;

/** The program: the 14 tools on standard input and output, on the ledger that the environment names. */
export async function main(): Promise<void> {
  const config = readConfigOrExit();
  const transport = createStdioTransport();
  const server = createServer({
    transport,
    mode: config.mode,
    logLevel: config.logLevel,
    agentId: config.agentId,
    instructions: INSTRUCTIONS,
    startupTimeoutMs: config.startupTimeoutMs,
    loadTools: async () => {
      // A client sends its handshake at once. The rest of this turn of the event loop, and a whole one in which standard
      // input is read, see it answered before anything else keeps the process busy.
      await setImmediate();
      await setImmediate();
      return (await import('./surface.ts')).createSurface(ports, config);
    },
    boot: async ({ chain }) => (await import('./runtime/boot.ts')).boot(config, chain.log, printError),
  });
  const { log, runtime } = server.chain;
  const ports = {
    pulse: () => pulseOf(server),
    facts: () => factsOf(server, config),
    database: () => runtime.database,
    skills: () => runtime.skills,
  };
  const shutDown = createShutdown(log, () => server.stop());
  // Who starts a server and says nothing to it wants the ledger created or migrated, and to know whether it was.
  transport.onend = () =>
    shutDown('the client closed the connection', () => (transport.wasUsed ? 0 : exitCodeOf(server)));
  try {
    await within(config.startupTimeoutMs, server.start());
    await within(config.startupTimeoutMs, runtime.passGate(false));
  } catch (error) {
    log('error', 'start failed', { error });
    process.exit(error instanceof StartupTimeout ? EXIT_TEMPORARY : 1);
  }
}

/** What became of the ledger. */
function exitCodeOf({ chain: { log, runtime } }: ColibriServerContext): number {
  if (runtime.phase !== 'starting') return runtime.failure === undefined ? 0 : 1;
  log('error', 'start failed', { error: new Error('the ledger was not open in time') });
  return EXIT_TEMPORARY;
}

function readConfigOrExit(): Config {
  try {
    return serverConfig(readConfig());
  } catch (error) {
    if (!(error instanceof ColibriError)) throw error;
    printError(`colibri: ${error.code}: ${error.message}`);
    process.exit(EXIT_CONFIG);
  }
}

function pulseOf(server: ColibriServerContext): Pulse {
  const { runtime, nowMs } = server.chain;
  return { version: server.getVersion(), mode: runtime.mode, uptimeMs: Math.floor(nowMs() - server.bootStartMs) };
}

/** Asks the disk and the operating system: for a report, not for a ping. */
function factsOf(server: ColibriServerContext, config: Config): ServerFacts {
  const { runtime } = server.chain;
  return {
    ...pulseOf(server),
    phase: runtime.phase,
    toolCount: server.listTools().length,
    capabilities: admittedAccess(runtime.mode).map((access) => `ledger.${access}`),
    dbPath: runtime.database?.location ?? describeLocation(config),
    durability: config.durability,
    failure: runtime.failure,
    isRetrying: runtime.isRetrying,
    skills: { loaded: runtime.skills?.list().length ?? 0, skipped: [...(runtime.skills?.defects() ?? [])] },
    process: { pid: process.pid, node: process.versions.node, memory_bytes: process.memoryUsage.rss() },
  };
}
