import { setImmediate } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { readConfig } from '../config.ts';
import { ColibriError } from '../errors.ts';
import { FifoLock } from '../fifo-lock.ts';
import { createLog, type LogLevel } from '../log.ts';
import { type AuditSink, createNoOpAuditSink } from '../middleware/audit.ts';
import type { Chain } from '../middleware/call.ts';
import type { Library } from '../middleware/library.ts';
import { createSinkTransactions } from '../middleware/recorded-transaction.ts';
import { createStderrAudit } from '../middleware/sinks/stderr.ts';
import { MODES, type Mode } from '../modes.ts';
import { printError } from '../print-error.ts';
import { type Booted, Runtime } from '../runtime/runtime.ts';
import { installGlobalHandlers } from '../runtime/shutdown.ts';
import type { Tool } from '../tool.ts';
import { readVersion } from '../version.ts';
import { type Connection, connect } from '../wire/connection.ts';
import { createStdioTransport, StdioTransport } from '../wire/stdio.ts';

/** The transport interface of the MCP SDK. Structural, so that the types of the package need no copy of the SDK. */
export interface TransportLike {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** The parts of a server that a test or an embedder may replace. */
export interface CreateServerOptions {
  readonly auditSink?: AuditSink;
  /** A transport of the MCP SDK; standard input and output if undefined. */
  readonly transport?: TransportLike;
  readonly version?: string;
  readonly mode?: Mode;
  /** The monotonic clock. */
  readonly nowMs?: () => number;
  readonly bootStartMs?: number;
  /** Receives one JSON line for each event. */
  readonly logger?: (line: string) => void;
  readonly logLevel?: LogLevel;
  /** Opens the database after the handshake. Without it, tools run without one and calls go to `auditSink`. */
  readonly boot?: (server: ColibriServerContext) => Promise<Booted>;
  /** Creates more tools after the handshake, which does not wait for their schemas. */
  readonly loadTools?: () => Promise<readonly Tool[]>;
  /** Loads resources and prompts when a client first asks for one. */
  readonly loadLibrary?: () => Promise<Library>;
  readonly agentId?: string | undefined;
  /** Why `boot` opens the ledger that it opens, for the log. */
  readonly ledgerReason?: string;
  readonly instructions?: string;
  readonly startupTimeoutMs?: number;
  readonly installGlobalHandlers?: boolean;
}

/** A server. It does nothing before `start`. */
export interface ColibriServerContext {
  registerColibriTool(tool: Tool): void;
  start(): Promise<void>;
  stop(): Promise<void>;
  getVersion(): string;
  getMode(): Mode;
  isConnected(): boolean;
  /** In order of registration, including tools that the mode does not admit. */
  listTools(): readonly Tool[];
  readonly chain: Chain<Runtime>;
  readonly bootStartMs: number;
}

export function createColibriServer(options: CreateServerOptions): ColibriServerContext {
  return new ColibriServer(options);
}

const TOOL_NAME = /^[a-z_][a-z0-9_]*$/;

class ColibriServer implements ColibriServerContext {
  readonly chain: Chain<Runtime>;
  readonly bootStartMs: number;
  readonly #options: CreateServerOptions;
  readonly #version: string;
  readonly #transport: Transport;
  readonly #tools = new Map<string, Tool>();
  #connection: Connection | undefined;
  #loading: Promise<void> = Promise.resolve();
  #library: Promise<Library> | undefined;
  #starting: Promise<void> | undefined;

  constructor(options: CreateServerOptions) {
    const logger = options.logger ?? printError;
    const nowMs = options.nowMs ?? (() => performance.now());
    this.#options = options;
    this.#version = options.version ?? readVersion();
    this.#transport = (options.transport as Transport | undefined) ?? createStdioTransport();
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

  /** Idempotent: two listeners on one transport would answer every request twice. */
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
      library: this.#options.loadLibrary && (() => this.#loadLibrary()),
      track: (id, call) => (this.#transport instanceof StdioTransport ? this.#transport.track(id, call) : call()),
    });
    this.#loading = this.#loadTools();
    let loggedFailure: string | undefined;
    const report = (): void => {
      const { mode, phase, failure } = runtime;
      const ledger = runtime.database?.location;
      if (failure === undefined)
        log('info', 'ready', { mode, phase, ledger, reason: ledger && this.#options.ledgerReason });
      // Retries that fail for the same reason are not logged again.
      else if (failure.message !== loggedFailure)
        log('error', 'degraded', { code: 'ERR_INIT_FAILED', mode, phase, error: failure });
      loggedFailure = failure?.message;
    };
    void runtime.boot(lock, () => this.#boot(), report);
  }

  /** Answers pending requests, then closes the connection and the database. */
  async stop(): Promise<void> {
    if (this.#transport instanceof StdioTransport) await this.#transport.idle();
    await this.chain.lock.idle();
    // The SDK sends an answer some microtasks after the call ends; only our own transport can wait for that.
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

  async #loadLibrary(): Promise<Library> {
    await this.#loading;
    this.#library ??= this.#options.loadLibrary?.();
    if (this.#library === undefined) throw new Error('this server has no library');
    return this.#library;
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

function assertMode(mode: Mode): Mode {
  if (MODES.includes(mode)) return mode;
  throw new ColibriError('ERR_INVALID_MODE', `"${mode}" is not one of ${MODES.join(', ')}`);
}
