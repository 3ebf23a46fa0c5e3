// A model on loopback that plays a fixed list of tool calls, and the only proxy that a client knows: it refuses
// everything, so that no client reaches the network, and remembers who was called.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { FORMATS } from './replies.mjs';

/** `callAt(index, names)` returns the call of a step; undefined after the last one. */
export async function startModel(callAt) {
  const refusedHosts = new Set();
  let steps = 0;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    // A proxy gets the whole address of a request without encryption.
    if (/^https?:/.test(request.url) && url.hostname !== '127.0.0.1') {
      refusedHosts.add(url.host);
      return send(response, 403, {});
    }
    const body = await readBody(request);
    const format = FORMATS.find(({ matches }) => matches.test(url.pathname));
    if (format === undefined) return send(response, 404, { error: { message: 'not a part of the scripted model' } });
    const { names, finished } = format.read(body);
    // Clients also ask for titles and summaries, without tools.
    const call = names.length === 0 ? undefined : callAt(finished, names);
    if (call) steps = Math.max(steps, finished + 1);
    const reply = format.reply(call, { request: body, path: url.pathname, serial: String(finished).padStart(6, '0') });
    response.writeHead(200, { 'content-type': reply.type }).end(reply.body);
  });
  server.on('connect', (request, socket) => {
    refusedHosts.add(request.url);
    socket.on('error', () => {});
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}`,
    /** How many steps a client has begun. */
    steps: () => steps,
    refusedHosts: () => [...refusedHosts],
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return {};
  }
}

function send(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
