import { connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * What becomes of bytes that a client sends. `pass and cut`: they arrive, and the answer does not. `late`: the client is
 * cut off, and they arrive when `deliver` is called.
 */
export type Verdict = 'pass' | 'cut' | 'pass and cut' | 'late' | 'swallow' | 'half';

/** A network between a server and its database that can be told to fail. */
export class Network {
  /** Asked for each piece that a client sends. */
  judge: (piece: Buffer) => Verdict = () => 'pass';
  /** Answers do not come through; questions do. */
  isDeaf = false;
  /** Bytes that a client receives before it is disconnected. */
  lastWords: Uint8Array = Buffer.alloc(0);
  /** New connections are refused. */
  isDown = false;
  readonly #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #late: (() => void)[] = [];

  private constructor(target: URL, isHalfOpen: boolean) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: isHalfOpen }, (client) => this.#join(client));
  }

  /** Half open: a FIN is not answered. */
  static async create(target: string, { isHalfOpen = false } = {}): Promise<Network> {
    const network = new Network(new URL(target), isHalfOpen);
    await new Promise<void>((resolve) => network.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      network.cut();
      network.#server.close();
    });
    return network;
  }

  /** The way to the database through this network. */
  url(parameters: Readonly<Record<string, string>> = {}): string {
    const url = new URL(this.#target);
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    url.port = String(address.port);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /** What was held up arrives. */
  deliver(): void {
    for (const arrive of this.#late) arrive();
    this.#late = [];
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #join(client: Socket): void {
    if (this.isDown) {
      client.destroy();
      return;
    }
    const server = connect(Number(this.#target.port), this.#target.hostname);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    server.on('data', (answer) => {
      if (!this.isDeaf) client.write(answer);
    });
    client.on('data', (piece) => this.#forward(piece, client, server));
  }

  #forward(piece: Buffer, client: Socket, server: Socket): void {
    const verdict = this.judge(piece);
    if (verdict === 'cut') client.destroy();
    if (verdict === 'pass') server.write(piece);
    if (verdict === 'half') {
      server.write(piece.subarray(0, piece.length / 2));
      client.destroy();
    }
    if (verdict === 'pass and cut') {
      // The database gets it, and its answer is dropped.
      client.removeAllListeners('close');
      client.end(this.lastWords, () => client.destroy());
      server.end(piece);
    }
    if (verdict === 'late') {
      client.removeAllListeners('close');
      client.destroy();
      this.#late.push(() => server.end(piece));
    }
  }
}
