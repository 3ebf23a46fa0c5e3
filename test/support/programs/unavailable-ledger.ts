import { InMemoryTransport } from '@modelcontextprotocol/server';
import { DatabaseError } from '../../../src/db/database.ts';
import { createServer, start } from '../../../src/server.ts';

/** A program that has a server whose ledger is away, and nothing else to do. */
const [, transport] = InMemoryTransport.createLinkedPair();
const server = createServer({
  transport,
  mode: 'FULL',
  version: '0.0.0-fixture',
  boot: () => Promise.reject(new DatabaseError('unavailable', 'the database cannot be reached')),
});
await start(server);
await server.chain.runtime.passGate(false);
