/**
 * The plain shapes of JSON-RPC messages, for which the SDK's schemas always hold. The build lets the SDK ask here
 * before it matches a message against a schema, which it does several times per call. False means: ask the schema.
 */

const RELATED_TASK = 'io.modelcontextprotocol/related-task';
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

const REQUEST_KEYS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const RESULT_KEYS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result']);

/** A request whose metadata has at most a progress token that the SDK would look at. */
export function isPlainRequest(value: unknown): boolean {
  if (!isPlainObject(value) || !hasOnly(value, REQUEST_KEYS)) return false;
  const { jsonrpc, id, method, params } = value;
  return jsonrpc === '2.0' && isId(id) && typeof method === 'string' && (params === undefined || isPlainParams(params));
}

/** A successful answer, without the SDK's own metadata. */
export function isPlainResult(value: unknown): boolean {
  if (!isPlainObject(value) || !hasOnly(value, RESULT_KEYS)) return false;
  const { jsonrpc, id, result } = value;
  return jsonrpc === '2.0' && isId(id) && isPlainObject(result) && hasPlainMeta(result, SERVER_INFO);
}

/**
 * A handshake of the 2025 protocol with the fields that clients send. To match one against a schema, the SDK first
 * builds those of the whole protocol, which takes a tenth of the time of a start.
 */
export function isPlainInitialize(message: unknown): boolean {
  if (!isPlainObject(message) || message['method'] !== 'initialize' || !isPlainObject(message['params'])) return false;
  const { protocolVersion, capabilities, clientInfo, ...others } = message['params'];
  return (
    typeof protocolVersion === 'string' &&
    isPlainObject(capabilities) &&
    Object.entries(capabilities).every(([name, value]) => isPlainCapability(name, value)) &&
    isPlainObject(clientInfo) &&
    typeof clientInfo['name'] === 'string' &&
    typeof clientInfo['version'] === 'string' &&
    Object.entries(clientInfo).every(([name, value]) => CLIENT_KEYS.has(name) && typeof value === 'string') &&
    Object.keys(others).length === 0
  );
}

const CLIENT_KEYS: ReadonlySet<string> = new Set(['name', 'version', 'title', 'description', 'websiteUrl']);

/** The SDK would add to an empty `elicitation` what it means; this server never asks for one. */
function isPlainCapability(name: string, value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const keys = Object.keys(value);
  if (name === 'roots') return keys.every((key) => key === 'listChanged' && typeof value[key] === 'boolean');
  if (name === 'elicitation') return keys.every((key) => ['form', 'url'].includes(key) && isEmpty(value[key]));
  return name === 'sampling' && keys.every((key) => ['context', 'tools'].includes(key) && isEmpty(value[key]));
}

function isEmpty(value: unknown): boolean {
  return isPlainObject(value) && Object.keys(value).length === 0;
}

function isPlainParams(params: unknown): boolean {
  if (!isPlainObject(params) || !hasPlainMeta(params, RELATED_TASK)) return false;
  const token = (params['_meta'] as PlainObject | undefined)?.['progressToken'];
  return token === undefined || isId(token);
}

function hasPlainMeta({ _meta: meta }: PlainObject, known: string): boolean {
  return meta === undefined || (isPlainObject(meta) && !(known in meta));
}

type PlainObject = Readonly<Record<string, unknown>>;

function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function isId(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function hasOnly(value: PlainObject, keys: ReadonlySet<string>): boolean {
  return Object.keys(value).every((key) => keys.has(key));
}
