import { isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server';

/** What a `tools/call` request says. */
export interface ToolCall {
  /** Empty if the request names no tool. */
  readonly name: string;
  /** The tool's own schema checks it. */
  readonly input: unknown;
  /** Why the request is answered with a protocol error; it is recorded nevertheless. */
  readonly defect?: string;
}

const DEFECT_KEY = 'colibri/defect';
const META_DEFECT = '_meta must be an object';
/** The keys of `_meta` whose values the SDK checks before it delivers a request. */
const CHECKED_KEYS = new Map([
  ['progressToken', '_meta.progressToken must be a string or an integer'],
  ['io.modelcontextprotocol/related-task', '_meta["io.modelcontextprotocol/related-task"] must have a taskId'],
]);
const META_DEFECTS: ReadonlySet<unknown> = new Set([META_DEFECT, ...CHECKED_KEYS.values()]);

export function parseToolCall(params: Readonly<Record<string, unknown>> = {}): ToolCall {
  const { name, arguments: input = {}, _meta: meta } = params;
  if (typeof name !== 'string') return { name: '', input, defect: 'name must be a string' };
  const defect = isObject(meta) ? meta[DEFECT_KEY] : undefined;
  return META_DEFECTS.has(defect) ? { name, input, defect: String(defect) } : { name, input };
}

/**
 * A tool call with malformed metadata, in a form that the SDK delivers to the handler, which records and refuses it.
 * The SDK itself would drop it. Undefined for every other message.
 */
export function repairToolCall(message: unknown): JSONRPCRequest | undefined {
  if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params'])) return undefined;
  const { _meta: meta, ...params } = message['params'];
  const withMeta = (repaired: object) => ({ ...message, params: { ...params, _meta: repaired } });
  if (!isObject(meta)) return asRequest(withMeta({ [DEFECT_KEY]: META_DEFECT }));
  const rest: Record<string, unknown> = { ...meta };
  for (const [key, defect] of CHECKED_KEYS) {
    delete rest[key];
    const repaired = asRequest(withMeta({ ...rest, [DEFECT_KEY]: defect }));
    if (repaired !== undefined) return repaired;
  }
  return undefined;
}

function asRequest(message: object): JSONRPCRequest | undefined {
  return isJSONRPCRequest(message) ? message : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
