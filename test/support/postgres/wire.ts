import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** Cuts a stream of the PostgreSQL protocol into messages, type and length included. */
export class MessageReader {
  #pending = Buffer.alloc(0);
  /** The first message of a client has no type, and begins with its length. */
  #isStartup: boolean;

  constructor({ hasStartup }: { readonly hasStartup: boolean }) {
    this.#isStartup = hasStartup;
  }

  read(chunk: Buffer): Buffer[] {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const messages: Buffer[] = [];
    for (;;) {
      const prefix = this.#isStartup ? 0 : 1;
      if (this.#pending.length < prefix + 4) return messages;
      const end = prefix + this.#pending.readUInt32BE(prefix);
      if (this.#pending.length < end) return messages;
      messages.push(this.#pending.subarray(0, end));
      this.#pending = this.#pending.subarray(end);
      this.#isStartup = false;
    }
  }
}

const PROTOCOL = 3 << 16;

/** https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-STARTUPMESSAGE */
export function startupMessage(url: URL): Buffer {
  const options = url.searchParams.get('options');
  const fields = { user: url.username, database: url.pathname.slice(1), ...(options === null ? {} : { options }) };
  const text = Object.entries(fields)
    .map(([name, value]) => `${name}\0${value}\0`)
    .join('');
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + text.length + 1, 0);
  head.writeInt32BE(PROTOCOL, 4);
  return Buffer.concat([head, Buffer.from(`${text}\0`)]);
}

/** https://www.postgresql.org/docs/current/protocol-error-fields.html */
export function errorMessage(error: {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
}): Buffer {
  const fields = Buffer.from(`S${error.severity}\0C${error.code}\0M${error.message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

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
