import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Message, Pipe } from './pipe.ts';

/**
 * Lets an HTTP client talk to the program on its pipes: one process for each session of the 2025 handshake, and one for
 * each request of the newer revision, which has no sessions. For the conformance suite alone, which speaks only HTTP.
 */
const program = process.argv.slice(2);
const sessions = new Map<string, Pipe>();
const open = new Set<Pipe>();
const SESSION = 'mcp-session-id';
const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`));
process.on('SIGTERM', () => {
  for (const pipe of open) pipe.close();
  process.exit();
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isLocal(request)) return end(response, 403);
  const id = request.headers[SESSION];
  if (request.method === 'DELETE' && typeof id === 'string') return end(response, closeSession(id) ? 200 : 404);
  // The program sends nothing on its own, so there is no stream to open.
  if (request.method !== 'POST') return end(response, 405);
  const message = JSON.parse(await readBody(request)) as Message;
  const pipe = pipeFor(message, id, response);
  if (pipe === undefined) return end(response, 404);
  if (message.id !== undefined && message.method !== undefined) return stream(pipe, message, response);
  pipe.send(message);
  return end(response, 202);
}

/** A page of a stranger could otherwise reach the port through a name of its own. */
function isLocal({ headers: { host = '', origin } }: IncomingMessage): boolean {
  return LOCAL.test(host) && (origin === undefined || LOCAL.test(origin.replace(/^https?:\/\//, '')));
}

function pipeFor(message: Message, id: string | string[] | undefined, response: ServerResponse): Pipe | undefined {
  if (typeof id === 'string') return sessions.get(id);
  const pipe = new Pipe(program);
  open.add(pipe);
  if (message.method === 'initialize') {
    const session = crypto.randomUUID();
    sessions.set(session, pipe);
    response.setHeader(SESSION, session);
  } else {
    // This also runs when the client disconnects from a request that is never answered.
    response.on('close', () => closePipe(pipe));
  }
  return pipe;
}

function closePipe(pipe: Pipe): void {
  open.delete(pipe);
  pipe.close();
}

function closeSession(id: string): boolean {
  const pipe = sessions.get(id);
  if (pipe !== undefined) closePipe(pipe);
  return sessions.delete(id);
}

/** What the program says about a request before it answers is passed on as it comes. */
async function stream(pipe: Pipe, message: Message, response: ServerResponse): Promise<void> {
  const write = (sent: Message) => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: message\ndata: ${JSON.stringify(sent)}\n\n`);
  };
  write(await pipe.request(message, write));
  response.end();
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
