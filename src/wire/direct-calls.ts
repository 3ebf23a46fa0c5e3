import {
  isJSONRPCNotification,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolErrorCode,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import type { CallRequest, Notify } from './answer-call.ts';
import { isPlainRequest } from './plain-messages.ts';

export type AnswerRequest = (request: CallRequest, notify: Notify) => Promise<Record<string, unknown>>;

/**
 * Answers plain calls of the 2025 protocol after `notifications/initialized`. The SDK adds nothing to them, but the
 * context, the functions and the promises that it creates for each request take as long as a commit. All other
 * messages go to the SDK, and so does a call that arrives together with one, because it must not overtake it.
 */
export class DirectCalls {
  readonly #transport: Transport;
  readonly #running = new Map<RequestId, AbortController>();
  #answer: AnswerRequest | undefined;
  /** The SDK queues messages, and handles all of them before the next turn of the event loop. */
  #hasSdkQueue = false;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Call it when the handshake is complete. */
  open(answer: AnswerRequest): void {
    this.#answer = answer;
  }

  /** True if the message is a call that is answered here, false if the SDK must get it. */
  take(message: JSONRPCMessage): boolean {
    if (this.#answer !== undefined && !this.#hasSdkQueue && isPlainCall(message)) {
      void this.#run(this.#answer, message);
      return true;
    }
    // The SDK does not know these calls, and ignores the cancellation of what it does not know.
    if (this.#running.size > 0) this.#cancel(message);
    this.#waitForSdk();
    return false;
  }

  /** Aborts the calls that wait; no client reads their answers. */
  close(): void {
    this.#answer = undefined;
    for (const controller of this.#running.values()) controller.abort(new Error('the connection was closed'));
  }

  #waitForSdk(): void {
    if (this.#hasSdkQueue) return;
    this.#hasSdkQueue = true;
    setImmediate(() => {
      this.#hasSdkQueue = false;
    });
  }

  /**
   * Like the SDK, it aborts after the promises that have settled were handled, so that a transaction that has begun is
   * completed, and ignores a cancellation whose reason is not a text.
   */
  #cancel(message: JSONRPCMessage): void {
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return;
    const { requestId, reason } = message.params ?? {};
    if (reason !== undefined && typeof reason !== 'string') return;
    queueMicrotask(() => this.#running.get(requestId as RequestId)?.abort(reason));
  }

  async #run(answer: AnswerRequest, { id, params }: JSONRPCRequest): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.set(id, controller);
    try {
      const response = await respond(id, () => answer({ id, params, signal }, this.#notify));
      if (!signal.aborted) await this.#transport.send(response);
    } catch {
      // The client is gone, which the transport reports.
    } finally {
      if (this.#running.get(id) === controller) this.#running.delete(id);
    }
  }

  readonly #notify: Notify = async (notification) => this.#transport.send({ jsonrpc: '2.0', ...notification });
}

const RESERVED = 'io.modelcontextprotocol/';

/** Metadata with keys of the protocol means something to the SDK. */
function isPlainCall(message: JSONRPCMessage): message is JSONRPCRequest {
  if (!isPlainRequest(message)) return false;
  const { method, params } = message as JSONRPCRequest;
  return method === 'tools/call' && !Object.keys(params?._meta ?? {}).some((key) => key.startsWith(RESERVED));
}

async function respond(id: RequestId, answer: () => Promise<Record<string, unknown>>): Promise<JSONRPCMessage> {
  try {
    return { result: await answer(), jsonrpc: '2.0', id };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: toProtocolError(error) };
  }
}

interface Thrown {
  readonly code?: unknown;
  readonly message?: string;
  readonly data?: unknown;
}

/** As the SDK does it: whatever is thrown without a code of the protocol is an internal error. */
function toProtocolError(thrown: unknown): { code: number; message: string; data?: unknown } {
  const { code, message = 'Internal error', data } = Object(thrown) as Thrown;
  return {
    code: Number.isSafeInteger(code) ? (code as number) : ProtocolErrorCode.InternalError,
    message,
    ...(data === undefined ? {} : { data }),
  };
}
