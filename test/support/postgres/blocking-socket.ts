import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';

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
