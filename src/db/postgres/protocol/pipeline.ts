import type { Client } from 'pg';
import type { Row } from '../../database.ts';
import { Packet, whileCorked } from './packet.ts';
import type { Statement } from './statement.ts';

/**
 * The way to the server. What is asked in one turn of the event loop leaves as one packet: waking one another up costs
 * both processes more than most statements do.
 */
export class Pipeline {
  readonly #client: Client;
  readonly #closed: Packet[] = [];
  #open: Packet | undefined;
  #isWaiting = false;

  constructor(client: Client) {
    this.#client = client;
  }

  ask(statement: Statement): Promise<Row[]> {
    this.#open ??= new Packet();
    if (!this.#isWaiting) {
      this.#isWaiting = true;
      setImmediate(() => this.flush());
    }
    return this.#open.ask(statement);
  }

  /** What comes next is not to fail with what came before. */
  separate(): void {
    if (this.#open !== undefined) this.#closed.push(this.#open);
    this.#open = undefined;
  }

  /** To be called before the driver is asked for something in another way. */
  flush(): void {
    this.separate();
    this.#isWaiting = false;
    if (this.#closed.length === 0) return;
    whileCorked(this.#client.connection.stream, () => {
      for (const packet of this.#closed.splice(0)) this.#client.query(packet);
    });
  }
}
