import type { Client } from 'pg';
import type { Row } from '../../database.ts';
import { Packet, whileCorked } from './packet.ts';
import type { Statement } from './statement.ts';

/**
 * Collects the statements of one iteration of the event loop into one packet: waking both processes costs more than
 * most statements do.
 */
export class Pipeline {
  readonly #client: Client;
  readonly #complete: Packet[] = [];
  #open: Packet | undefined;
  #isScheduled = false;

  constructor(client: Client) {
    this.#client = client;
  }

  query(statement: Statement): Promise<Row[]> {
    this.#open ??= new Packet();
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => this.flush());
    }
    return this.#open.add(statement);
  }

  /** Later statements do not fail with the earlier ones. */
  endPacket(): void {
    if (this.#open !== undefined) this.#complete.push(this.#open);
    this.#open = undefined;
  }

  /** Sends now. Call it before using the client directly, to keep the order. */
  flush(): void {
    this.endPacket();
    this.#isScheduled = false;
    if (this.#complete.length === 0) return;
    whileCorked(this.#client.connection.stream, () => {
      for (const packet of this.#complete.splice(0)) this.#client.query(packet);
    });
  }
}
