import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { pgDump } from '@electric-sql/pglite-tools/pg_dump';

/** A socket as a program in C knows it: to read is to wait. For programs that were compiled to WebAssembly. */
export class BlockingSocket {
  readonly #channel: MessageChannel['port1'];
  readonly #rings = new Int32Array(new SharedArrayBuffer(4));

  constructor(host: string, port: number) {
    const { port1, port2 } = new MessageChannel();
    this.#channel = port1;
    const worker = new Worker(new URL('blocking-socket-worker.mjs', import.meta.url), {
      workerData: { host, port, channel: port2, bell: this.#rings.buffer },
      transferList: [port2],
    });
    worker.unref();
  }

  write(bytes: Uint8Array): void {
    this.#channel.postMessage(Uint8Array.from(bytes), []);
  }

  /** Some bytes; undefined when the other side has closed. */
  read(): Uint8Array | undefined {
    for (;;) {
      const heard = Atomics.load(this.#rings, 0);
      const received = receiveMessageOnPort(this.#channel);
      if (received !== undefined) return received.message ?? undefined;
      Atomics.wait(this.#rings, 0, heard);
    }
  }

  close(): void {
    this.#channel.postMessage(null, []);
    this.#channel.close();
  }
}

/** The real pg_dump, compiled to WebAssembly, on a real server: it speaks the protocol, and this carries the bytes. */
export async function runPgDump(url: string, flags: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = new BlockingSocket(hostname, Number(port));
  try {
    const args = [...flags, `--dbname=${url}`];
    const file = await pgDump({ pg: asDatabase(socket), args });
    return await file.text();
  } finally {
    socket.close();
  }
}

type Database = Parameters<typeof pgDump>[0]['pg'];

/** The part of an embedded database that the wrapper around pg_dump needs. */
function asDatabase(socket: BlockingSocket): Database {
  const requests = new Requests();
  const database = {
    query: () => Promise.resolve({ rows: [{ search_path: 'nothing that matters' }] }),
    exec: () => Promise.resolve(),
    execProtocolRawStream: (bytes: Uint8Array, { onRawData }: { onRawData: (bytes: Uint8Array) => void }) => {
      socket.write(bytes);
      if (!requests.areWhole(bytes)) return;
      for (const chunk of readAnswer(socket)) onRawData(chunk);
    },
  };
  return database as unknown as Database;
}

const TERMINATE = 'X'.charCodeAt(0);

/** Says when a whole message has been sent, and is not the last one: only then there is an answer to wait for. */
class Requests {
  #pending = Buffer.alloc(0);
  /** The first message of a connection has no letter. */
  #prefix = 0;

  areWhole(bytes: Uint8Array): boolean {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    let last = 0;
    while (this.#pending.length >= this.#prefix + 4) {
      const end = this.#prefix + this.#pending.readUInt32BE(this.#prefix);
      if (this.#pending.length < end) return false;
      last = this.#prefix === 0 ? 0 : (this.#pending[0] ?? 0);
      this.#pending = this.#pending.subarray(end);
      this.#prefix = 1;
    }
    return this.#pending.length === 0 && last !== TERMINATE;
  }
}

/** An answer ends with ReadyForQuery: Z, a length of 5, a state. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

function* readAnswer(socket: BlockingSocket): Generator<Uint8Array> {
  let end = Buffer.alloc(0);
  while (!end.subarray(-6, -1).equals(READY)) {
    const chunk = socket.read();
    if (chunk === undefined) return;
    end = Buffer.concat([end, chunk]).subarray(-6);
    yield chunk;
  }
}
