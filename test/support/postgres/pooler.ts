import { connect, createServer, type Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { MessageReader, startupMessage } from './wire.ts';

/**
 * A pooler before several real backends. In transaction mode a client has one of them only until its transaction ends,
 * and like PgBouncer before 1.21 it leaves prepared statements, settings and advisory locks behind there.
 */
export class Pooler {
  /** Which of the backends serves the next transaction of a client, by the order in which clients came. */
  assign: (client: number) => number = (client) => client;
  readonly #target: URL;
  readonly #mode: PoolMode;
  readonly #server: Server;
  readonly #backends: Backend[] = [];
  readonly #sockets = new Set<Socket>();
  #clients = 0;

  private constructor(target: URL, mode: PoolMode) {
    this.#target = target;
    this.#mode = mode;
    // Messages are passed on one by one; each would wait for the acknowledgement of the one before.
    this.#server = createServer({ noDelay: true }, (socket) => this.#join(socket));
  }

  static async create(target: string, mode: PoolMode, { backends = 2 } = {}): Promise<Pooler> {
    const pooler = new Pooler(new URL(target), mode);
    for (let count = 0; count < backends; count += 1) pooler.#backends.push(await Backend.open(pooler.#target));
    await new Promise<void>((resolve) => pooler.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const backend of pooler.#backends) backend.close();
      for (const socket of pooler.#sockets) socket.destroy();
      pooler.#server.close();
    });
    return pooler;
  }

  url(): string {
    const url = new URL(this.#target);
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    url.port = String(address.port);
    return url.href;
  }

  #join(socket: Socket): void {
    const number = this.#clients;
    this.#clients += 1;
    this.#sockets.add(socket);
    const client = new PooledClient(socket, this.#mode, () => {
      const backend = this.#backends[this.assign(number) % this.#backends.length];
      if (backend === undefined) throw new Error('the pooler has no backend');
      return backend;
    });
    const reader = new MessageReader({ hasStartup: true });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      client.leave();
    });
    socket.on('data', (chunk) => {
      for (const message of reader.read(chunk)) client.take(message);
    });
  }
}

type PoolMode = 'session' | 'transaction';

const [QUERY, SYNC, TERMINATE, READY, KEY] = ['Q', 'S', 'X', 'Z', 'K'].map((letter) => letter.charCodeAt(0));
const IDLE = 'I'.charCodeAt(0);

class PooledClient {
  readonly #socket: Socket;
  readonly #mode: PoolMode;
  readonly #choose: () => Backend;
  #backend: Backend | undefined;
  #waiting: Buffer[] = [];
  #unanswered = 0;

  constructor(socket: Socket, mode: PoolMode, choose: () => Backend) {
    this.#socket = socket;
    this.#mode = mode;
    this.#choose = choose;
  }

  /** One message of the client; the first has no type. */
  take(message: Buffer): void {
    const [type] = message;
    if (type === 0) {
      this.#socket.write(this.#choose().greeting);
      return;
    }
    if (type === TERMINATE) {
      this.#socket.end();
      return;
    }
    if (this.#backend === undefined) {
      this.#backend = this.#choose();
      this.#backend.users.push(this);
    }
    if (type === QUERY || type === SYNC) this.#unanswered += 1;
    if (this.#backend.users[0] === this) this.#backend.write(message);
    else this.#waiting.push(message);
  }

  /** One message of the backend. */
  answer(message: Buffer): void {
    this.#socket.write(message);
    if (message[0] !== READY) return;
    this.#unanswered -= 1;
    if (message[5] !== IDLE || this.#unanswered > 0 || this.#mode === 'session') return;
    const backend = this.#backend;
    this.#backend = undefined;
    backend?.users.shift();
    backend?.users[0]?.begin();
  }

  /** The backend is free for this client. */
  begin(): void {
    for (const message of this.#waiting.splice(0)) this.#backend?.write(message);
  }

  /** A client that leaves a backend which is still its own takes it away. */
  leave(): void {
    const backend = this.#backend;
    if (backend === undefined) return;
    const isServed = backend.users[0] === this;
    backend.users.splice(backend.users.indexOf(this), 1);
    if (isServed) void backend.renew().then(() => backend.users[0]?.begin());
  }
}

class Backend {
  readonly #target: URL;
  #socket: Socket;
  /** What the server said after the login, except for its key: a pooler makes up one of its own. */
  #greeting = Buffer.alloc(0);
  /** The client whose transaction it carries out, then those that wait for it. */
  readonly users: PooledClient[] = [];

  private constructor(target: URL) {
    this.#target = target;
    this.#socket = new Socket();
  }

  static async open(target: URL): Promise<Backend> {
    const backend = new Backend(target);
    await backend.renew();
    return backend;
  }

  get greeting(): Buffer {
    return this.#greeting;
  }

  write(message: Buffer): void {
    this.#socket.write(message);
  }

  close(): void {
    this.#socket.destroy();
  }

  renew(): Promise<void> {
    this.#socket.destroy();
    const socket = connect({ port: Number(this.#target.port), host: this.#target.hostname, noDelay: true });
    this.#socket = socket;
    const reader = new MessageReader({ hasStartup: false });
    const greeting: Buffer[] = [];
    let isReady = false;
    return new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.once('connect', () => socket.write(startupMessage(this.#target)));
      socket.on('data', (chunk) => {
        for (const message of reader.read(chunk)) {
          if (isReady) this.users[0]?.answer(message);
          else greeting.push(message[0] === KEY ? MADE_UP_KEY : message);
          if (isReady || message[0] !== READY) continue;
          isReady = true;
          this.#greeting = Buffer.concat(greeting);
          resolve();
        }
      });
    });
  }
}

const MADE_UP_KEY = Buffer.from([...Buffer.from('K'), 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1]);
