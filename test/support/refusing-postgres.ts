import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { errorMessage } from './postgres/wire.ts';

const ASK_FOR_PASSWORD = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);

/** A server that asks for the password, and refuses it with a message that repeats it. Returns its address. */
export async function startRefusingPostgres(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(ASK_FOR_PASSWORD);
      socket.once('data', (message) => {
        const password = message.subarray(5, -1).toString();
        const text = `password authentication failed: ${password}`;
        socket.end(errorMessage({ severity: 'FATAL', code: '28P01', message: text }));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `127.0.0.1:${address.port}`;
}
