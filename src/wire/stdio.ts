import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { parseJson } from '../integrity/parse-json.ts';
import { repairToolCall } from './tool-call.ts';

/** Far above the largest valid call, far below what could exhaust memory. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Backpressure: with this many requests in flight, stdin is paused. */
const MAX_IN_FLIGHT = 256;
/** How much of each end of an oversized line is kept, to find the request id to answer. */
const KEPT_BYTES = 512;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/**
 * MCP over two pipes, one JSON message per line. The SDK's own transport closes the connection at an oversized line,
 * silently drops what it cannot parse, and discards pending answers when stdin ends.
 */
export class StdioTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  /** Called when stdin ends. Answers can still be sent until `close`. */
  onend?: () => void;

  readonly #input: Readable;
  readonly #output: Writable;
  /** Requests without an answer yet, and cancelled calls that still run. */
  readonly #inFlight = new Set<RequestId>();
  readonly #cancelled = new Set<RequestId>();
  readonly #running = new Set<RequestId>();
  #waiters: (() => void)[] = [];
  #parts: Buffer[] = [];
  #partBytes = 0;
  #head: Buffer | undefined;
  #isClosed = false;
  #wasUsed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  /** True once a byte was received. */
  get wasUsed(): boolean {
    return this.#wasUsed;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#onData);
    this.#input.on('end', this.#onEnd);
    this.#input.on('error', this.#onError);
    this.#output.on('error', this.#onError);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the connection is closed'));
    return new Promise((resolve, reject) => {
      this.#output.write(`${JSON.stringify(message)}\n`, (error) => {
        if ('id' in message && !('method' in message) && message.id !== undefined) this.#settle(message.id);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Counts a call as in flight until it ends, even if the client cancels it and gets no answer. */
  async track<Result>(id: RequestId, call: () => Promise<Result>): Promise<Result> {
    this.#running.add(id);
    try {
      return await call();
    } finally {
      this.#running.delete(id);
      if (this.#cancelled.has(id)) this.#settle(id);
    }
  }

  /** Resolves when every request has its answer on the wire and every cancelled call has ended. */
  idle(): Promise<void> {
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off('data', this.#onData);
    this.#input.off('end', this.#onEnd);
    this.#input.pause();
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#wasUsed = true;
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    if (this.#inFlight.size >= MAX_IN_FLIGHT) this.#input.pause();
  };

  readonly #onEnd = (): void => {
    if (this.#partBytes > 0) this.onerror?.(new Error('the client stopped sending in the middle of a message'));
    if (this.onend) this.onend();
    else void this.idle().then(() => this.close());
  };

  readonly #onError = (error: Error): void => {
    if (this.#isClosed) return;
    this.onerror?.(error);
    // The client is gone, so pending requests count as settled.
    for (const id of this.#inFlight) this.#settle(id);
    this.#onEnd();
  };

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#partBytes += part.length;
    if (this.#partBytes <= MAX_MESSAGE_BYTES) return;
    const kept = Buffer.concat(this.#parts);
    this.#head ??= Buffer.from(kept.subarray(0, KEPT_BYTES));
    this.#parts = [Buffer.from(kept.subarray(-KEPT_BYTES))];
  }

  #endLine(): void {
    const line = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    const head = this.#head;
    this.#parts = [];
    this.#partBytes = 0;
    this.#head = undefined;
    if (head !== undefined)
      this.#refuse(INVALID_REQUEST, `the message is longer than ${MAX_MESSAGE_BYTES} bytes`, findId(head, line));
    else if (!isBlank(line)) this.#receive(line);
  }

  #receive(line: Buffer): void {
    const parsed = parse(line);
    if (parsed === undefined) return this.#refuse(PARSE_ERROR, 'the line is not JSON in UTF-8');
    this.#deliver(parsed);
  }

  #deliver(message: unknown): void {
    // Uses the SDK's own checks: it silently drops what fails them, and the client would wait forever.
    if (isJSONRPCRequest(message)) this.#expectAnswer(message.method, message.id);
    else if (isJSONRPCNotification(message)) this.#expectNoAnswer(message);
    else if (!isJSONRPCResponse(message)) return this.#deliverRepaired(message);
    this.onmessage?.(message);
  }

  #deliverRepaired(message: unknown): void {
    const repaired = repairToolCall(message);
    if (repaired === undefined)
      return this.#refuse(INVALID_REQUEST, 'the line is not one JSON-RPC 2.0 message', requestIdOf(message));
    this.#expectAnswer(repaired.method, repaired.id);
    this.onmessage?.(repaired);
  }

  #expectAnswer(method: string, id: RequestId): void {
    // A subscription is answered when it ends, possibly never.
    if (method !== 'subscriptions/listen') this.#inFlight.add(id);
  }

  /** The SDK does not answer a cancelled request, but its call may still run. */
  #expectNoAnswer({
    method,
    params,
  }: {
    method: string;
    params?: Readonly<Record<string, unknown>> | undefined;
  }): void {
    const id = asRequestId(params?.['requestId']);
    if (method !== 'notifications/cancelled' || id === undefined || !this.#inFlight.has(id)) return;
    this.#cancelled.add(id);
    // A request that has not started its call by the next turn of the event loop never will.
    setImmediate(() => {
      if (!this.#running.has(id) && this.#cancelled.has(id)) this.#settle(id);
    });
  }

  #refuse(code: number, problem: string, id?: RequestId): void {
    this.onerror?.(new Error(`refused a message: ${problem}`));
    // Without a readable id, MCP omits the field where JSON-RPC would send null.
    void this.send({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error: { code, message: problem } }).catch(
      () => undefined,
    );
  }

  #settle(id: RequestId): void {
    this.#cancelled.delete(id);
    if (!this.#inFlight.delete(id)) return;
    if (this.#inFlight.size < MAX_IN_FLIGHT && !this.#isClosed && this.#input.isPaused()) this.#input.resume();
    if (this.#inFlight.size > 0) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}

/** The only place that uses stdout: it belongs to the protocol. */
export function createStdioTransport(): StdioTransport {
  return new StdioTransport(process.stdin, process.stdout);
}

/** Empty, or empty but for the CR of a CR LF line ending. */
function isBlank(line: Buffer): boolean {
  return line.length === 0 || (line.length === 1 && line[0] === 0x0d);
}

function parse(line: Buffer): unknown {
  if (!isUtf8(line)) return undefined;
  try {
    return parseJson(line.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The id of a malformed request. A malformed response has an id too, but must not be answered. */
function requestIdOf(message: unknown): RequestId | undefined {
  if (typeof message !== 'object' || message === null || !('method' in message) || !('id' in message)) return undefined;
  return asRequestId(message.id);
}

function asRequestId(value: unknown): RequestId | undefined {
  return typeof value === 'string' || Number.isSafeInteger(value) ? (value as RequestId) : undefined;
}

/** Clients write the id first or last in a message. */
function findId(head: Buffer, tail: Buffer): RequestId | undefined {
  const id = String.raw`"id"\s*:\s*(\d{1,15}|"[^"\\]{1,200}")\s*`;
  const version = String.raw`"jsonrpc"\s*:\s*"2\.0"\s*`;
  const atStart = new RegExp(`^\\s*\\{\\s*(?:${version},\\s*)?${id},`).exec(head.toString('utf8'));
  const atEnd = new RegExp(`${id}(?:,\\s*${version})?\\}\\s*$`).exec(tail.toString('utf8'));
  const found = atStart?.[1] ?? atEnd?.[1];
  return found === undefined ? undefined : asRequestId(parse(Buffer.from(found)));
}
