import type { Duplex } from 'node:stream';
import type { Client } from 'pg';

const gathering = new WeakSet<Duplex>();

/** What is asked in one turn of the event loop leaves in one packet: a packet for each statement costs more than they do. */
export function gather({ connection: { stream } }: Client): void {
  if (gathering.has(stream)) return;
  gathering.add(stream);
  stream.cork();
  setImmediate(() => {
    gathering.delete(stream);
    stream.uncork();
  });
}
