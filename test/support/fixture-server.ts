import * as z from 'zod';
import { createServer, registerColibriTool, start } from '../../src/server.ts';

/** A server whose only tool misbehaves, to be run as a process of its own. */
const server = createServer({ mode: 'FULL', version: '0.0.0-fixture' });
registerColibriTool(server, 'throw_string', { inputSchema: z.strictObject({}), access: 'none' }, () => {
  throw 'just a string';
});
await start(server);
