import { ProtocolError, ProtocolErrorCode, type RequestId } from '@modelcontextprotocol/server';
import type { CallContext } from '../context.ts';
import type { Answer } from '../envelope.ts';
import type { Chain } from '../middleware/call.ts';
import { runCall } from '../middleware/chain.ts';
import type { Tool } from '../tool.ts';
import { toRecordedName } from './client-name.ts';
import { parseToolCall } from './tool-call.ts';

/** What `tools/call` is served from. */
export interface CallService {
  readonly chain: Chain;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Resolves when every tool is registered. */
  readonly whenLoaded: () => Promise<void>;
  /** Runs a call and tells the transport when it ends; a cancelled call sends no answer that would show it. */
  readonly track: <Result>(id: RequestId, call: () => Promise<Result>) => Promise<Result>;
}

/** A `tools/call` request as it arrived. */
export interface CallRequest {
  readonly id: RequestId;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  /** Aborts when the client cancels the request. */
  readonly signal: AbortSignal;
}

export interface Caller {
  readonly actor: string;
  readonly notify: Notify;
}

export type Notify = (notification: {
  method: 'notifications/progress';
  params: { progressToken: string | number; progress: number; total: number; message?: string };
}) => Promise<void>;

/** Runs the call and renders its answer for the protocol. Throws what the client gets as a protocol error. */
export function answerCall(
  service: CallService,
  { id, params, signal }: CallRequest,
  { actor, notify }: Caller,
): Promise<Record<string, unknown>> {
  const { name, input, defect } = parseToolCall(params);
  return service.track(id, async () => {
    await service.whenLoaded();
    const tool = service.tools.get(name);
    const shownName = tool?.name ?? toRecordedName(name);
    const answer = await runCall(service.chain, {
      name: shownName,
      tool,
      rawInput: input,
      ...(defect === undefined ? {} : { defect }),
      actor,
      progress: progressReporter(params?.['_meta'], notify),
      signal,
    });
    if (defect !== undefined) throw invalidParams(`Invalid tools/call request: ${defect}`);
    if (tool === undefined) throw invalidParams(`Unknown tool: ${shownName}`);
    const { structuredContent, text, isError, exit } = answer;
    const receipt = exit && createReceipt(service.chain, shownName, exit);
    return {
      content: [{ type: 'text', text }],
      structuredContent,
      ...(isError ? { isError } : {}),
      ...(receipt === undefined ? {} : { _meta: { [RECEIPT_KEY]: receipt } }),
    };
  });
}

const RECEIPT_KEY = 'colibri/receipt';

/** What the client can hold against a changed log: where its call ended, and the newest statement about the log. */
function createReceipt({ runtime }: Chain, tool: string, { index, leaf }: NonNullable<Answer['exit']>): object {
  const { checkpoint } = runtime;
  runtime.committed(tool, index + 1);
  return { index, leaf, ...(checkpoint === undefined ? {} : { checkpoint }) };
}

function invalidParams(problem: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, problem);
}

const noProgress = (): void => undefined;

/** The transport has checked the metadata. */
function progressReporter(meta: unknown, notify: Notify): CallContext['progress'] {
  const token = (meta as { readonly progressToken?: string | number } | undefined)?.progressToken;
  if (token === undefined) return noProgress;
  return (progress, total, message) => {
    const params = { progressToken: token, progress, total, ...(message === undefined ? {} : { message }) };
    // A client that disconnected must not fail its call.
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
