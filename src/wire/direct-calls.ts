import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import type { CallRequest, Notify } from './answer-call.ts';

export type AnswerRequest = (request: CallRequest, notify: Notify) => Promise<Record<string, unknown>>;

/** The SDK uses this code for whatever a handler throws without one. */
const INTERNAL_ERROR = -32603;

/**
 * Answers the calls of a client that has completed the 2025 handshake. There the SDK adds nothing to a `tools/call`,
 * but the context, the functions and the promises that it creates for each request take as long as a commit. All
 * other messages, and every call before the handshake or of the 2026 revision, go to the SDK.
 */
export class DirectCalls {
  readonly #transport: Transport;
  readonly #running = new Map<RequestId, AbortController>();
  #answer: AnswerRequest | undefined;
  /** One that was not aborted can serve the next call; creating one takes as long as validating an input. */
  #spare: AbortController | undefined;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Call it when the handshake is complete. */
  open(answer: AnswerRequest): void {
    this.#answer = answer;
  }

  /** True if the message is a call that is answered here. */
  take(message: JSONRPCMessage): boolean {
    if (this.#answer === undefined || !('method' in message)) return false;
    const { method, params } = message;
    if (method === 'tools/call' && 'id' in message && isPlain(params?.['_meta'])) {
      void this.#run(this.#answer, message.id, params);
      return true;
    }
    // The SDK does not know these calls, and ignores the cancellation of what it does not know.
    if (method === 'notifications/cancelled') this.#cancel(params?.['requestId'], params?.['reason']);
    return false;
  }

  /** Aborts the calls that wait; no client reads their answers. */
  close(): void {
    this.#answer = undefined;
    for (const controller of this.#running.values()) controller.abort(new Error('the connection was closed'));
  }

  /** When the promises that have settled were handled, as by the SDK: a transaction that has begun is completed. */
  #cancel(id: unknown, reason: unknown): void {
    queueMicrotask(() => this.#running.get(id as RequestId)?.abort(reason));
  }

  async #run(answer: AnswerRequest, id: RequestId, params: CallRequest['params']): Promise<void> {
    const controller = this.#spare ?? new AbortController();
    this.#spare = undefined;
    this.#running.set(id, controller);
    const { signal } = controller;
    const response = await answer({ id, params, signal }, this.#notify).then(
      (result) => ({ result, jsonrpc: '2.0' as const, id }),
      (error: unknown) => ({ jsonrpc: '2.0' as const, id, error: toProtocolError(error) }),
    );
    if (this.#running.get(id) === controller) this.#running.delete(id);
    if (signal.aborted) return;
    this.#spare = controller;
    await this.#transport.send(response).catch((error: Error) => this.#transport.onerror?.(error));
  }

  readonly #notify: Notify = (notification) => this.#transport.send({ jsonrpc: '2.0', ...notification });
}

const RESERVED = 'io.modelcontextprotocol/';

/** Metadata with keys of the protocol means something to the SDK. */
function isPlain(meta: unknown): boolean {
  return meta === undefined || !Object.keys(meta as object).some((key) => key.startsWith(RESERVED));
}

function toProtocolError(thrown: unknown): { code: number; message: string; data?: unknown } {
  const { code, message = 'Internal error', data } = thrown as { code?: unknown; message?: string; data?: unknown };
  return {
    code: Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
    message,
    ...(data === undefined ? {} : { data }),
  };
}
