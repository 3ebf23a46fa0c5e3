import type { Random } from '../random.ts';
import { hostileJson, hostileText } from './values.ts';

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema: {
    readonly properties?: Readonly<Record<string, FieldSchema>>;
    readonly required?: readonly string[];
  };
}

interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly FieldSchema[];
}

const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'rpc.discover',
] as const;

/** A line from the grammar of JSON-RPC, which usually breaks one of its rules. */
export function hostileLine(random: Random): Buffer {
  const line = writeMessage(random);
  return random.isOneIn(3) ? mutate(random, Buffer.from(line)) : Buffer.from(line);
}

/** A valid `tools/call` with this id, whose arguments are chosen field by field: valid, hostile or missing. */
export function hostileCall(random: Random, tools: readonly ListedTool[], id: string): string {
  const { name, inputSchema } = random.pick(tools as [ListedTool, ...ListedTool[]]);
  const fields = Object.entries(inputSchema.properties ?? {}).flatMap(([field, schema]) => {
    const isSent = inputSchema.required?.includes(field) ? !random.isOneIn(20) : random.isOneIn(3);
    return isSent ? [`${JSON.stringify(field)}:${writeField(random, schema)}`] : [];
  });
  if (random.isOneIn(10)) fields.push(`${JSON.stringify(hostileText(random))}:${hostileJson(random)}`);
  return `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"${name}","arguments":{${fields.join()}}}}`;
}

function writeMessage(random: Random): string {
  const version = random.isOneIn(10) ? hostileJson(random) : '"2.0"';
  const id = random.isOneIn(4) ? hostileJson(random) : String(random.below(50));
  const method = random.isOneIn(6) ? hostileJson(random) : JSON.stringify(random.pick(METHODS));
  const params = random.isOneIn(2) ? hostileJson(random) : writeParameters(random);
  const members = [`"jsonrpc":${version}`, `"id":${id}`, `"method":${method}`, `"params":${params}`];
  const kept = members.filter(() => !random.isOneIn(8));
  if (random.isOneIn(10)) kept.push(`"result":${hostileJson(random)}`);
  if (random.isOneIn(10)) kept.push(`"error":${hostileJson(random)}`);
  const message = `{${kept.join()}}`;
  return random.isOneIn(20) ? `[${message},${message}]` : message;
}

function writeParameters(random: Random): string {
  const name = JSON.stringify(
    random.pick(['server_ping', 'skill_list', 'merkle_root', 'task_get', hostileText(random)]),
  );
  const meta = random.isOneIn(4) ? `,"_meta":${hostileJson(random)}` : '';
  const uri = random.isOneIn(4) ? `,"uri":${JSON.stringify(`colibri://${hostileText(random)}`)}` : '';
  const cancelled = random.isOneIn(4) ? `,"requestId":${random.below(50)}` : '';
  return `{"name":${name},"arguments":${hostileJson(random)}${uri}${meta}${cancelled}}`;
}

function writeField(random: Random, schema: FieldSchema): string {
  if (random.isOneIn(4)) return hostileJson(random);
  const chosen = schema.anyOf === undefined ? schema : random.pick(schema.anyOf as [FieldSchema, ...FieldSchema[]]);
  if (chosen.enum !== undefined) return JSON.stringify(random.pick(chosen.enum as [string, ...string[]]));
  const type = [chosen.type].flat()[0];
  if (type === 'string')
    return JSON.stringify(random.isOneIn(2) ? random.pick(['T-0001', 'A-0001', 'a']) : hostileText(random));
  if (type === 'integer' || type === 'number') return String(random.below(120));
  if (type === 'boolean') return random.isOneIn(2) ? 'true' : 'false';
  if (type === 'array') return `[${random.isOneIn(2) ? JSON.stringify(hostileText(random)) : ''}]`;
  return hostileJson(random);
}

/** Bytes that are replaced, removed, repeated or cut, without a line break. */
function mutate(random: Random, line: Buffer): Buffer {
  const place = random.below(line.length);
  const kind = random.below(4);
  if (kind === 0) return line.subarray(0, place);
  if (kind === 1) return Buffer.concat([line.subarray(0, place), line.subarray(place + 1 + random.below(8))]);
  if (kind === 2) return Buffer.concat([line, line.subarray(place)]);
  const mutated = Buffer.from(line);
  for (let count = random.between(1, 5); count > 0; count -= 1) {
    const byte = random.below(256);
    mutated[random.below(line.length)] = byte === 0x0a ? 0 : byte;
  }
  return mutated;
}
