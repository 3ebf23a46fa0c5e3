import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ReadContext } from '../context.ts';
import type { Chain } from '../middleware/call.ts';
import type { Library } from '../middleware/library.ts';
import { readSnapshot } from '../middleware/read-snapshot.ts';
import { isAdmitted } from '../modes.ts';

export interface LibraryService {
  readonly chain: Chain;
  readonly library: () => Promise<Library>;
  readonly actorOf: (context: ServerContext) => string;
  readonly track: <Result>(id: string | number, read: () => Promise<Result>) => Promise<Result>;
}

export const LIBRARY_CAPABILITIES = { resources: {}, prompts: {} } as const;
export const LIBRARY_METHODS = ['resources/list', 'resources/templates/list', 'prompts/list'] as const;

/** Serves resources and prompts. A mode that does not read the ledger lists none. */
export function serveLibrary(server: Server, service: LibraryService): void {
  const { chain, library } = service;
  const list = async <Item>(pick: (library: Library) => readonly Item[]): Promise<Item[]> =>
    isAdmitted(chain.runtime.configuredMode, { access: 'read' }) ? [...pick(await library())] : [];
  server.setRequestHandler('resources/list', async () => ({ resources: await list(({ resources }) => resources) }));
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: await list(({ templates }) => templates),
  }));
  server.setRequestHandler('prompts/list', async () => ({ prompts: await list(({ prompts }) => prompts) }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
    const found = await read(service, context, (entry, reading) => entry.readResource(uri, reading));
    if (found === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, ...found }] };
  });
  server.setRequestHandler('prompts/get', async ({ params: { name, arguments: args = {} } }, context) => {
    const text = await read(service, context, (entry, reading) => entry.readPrompt(name, args, reading));
    if (text === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
    return { messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
  });
}

/** Errors of the caller; every other code says that the server could not do it. */
const CALLER_CODES: ReadonlySet<string> = new Set(['INVALID_PARAMS', 'ERR_NOT_FOUND']);

function read<Result>(
  { chain, library, actorOf, track }: LibraryService,
  context: ServerContext,
  work: (library: Library, reading: ReadContext) => Promise<Result>,
): Promise<Result> {
  return track(context.mcpReq.id, async () => {
    const entry = await library();
    const reader = { actor: actorOf(context), signal: context.mcpReq.signal };
    const outcome = await readSnapshot(chain, reader, (reading) => work(entry, reading));
    if (outcome.ok) return outcome.data;
    const { code, message } = outcome.error;
    const { InvalidParams, InternalError } = ProtocolErrorCode;
    throw new ProtocolError(CALLER_CODES.has(code) ? InvalidParams : InternalError, message);
  });
}
