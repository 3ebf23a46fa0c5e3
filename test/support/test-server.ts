import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, expect } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Database, Row, SqlValue } from '../../src/db/database.ts';
import { boot } from '../../src/runtime/boot.ts';
import { createServer } from '../../src/server.ts';
import { createSurface, createSurfaceLibrary } from '../../src/surface.ts';
import type { Problem } from '../../src/verification/report.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { type Agent, createAgent } from './agent.ts';
import { ledgerAt } from './ledger-targets.ts';

/** A server on a real ledger in this process, with a client connected to it in memory. */
export interface TestServer extends Agent {
  readonly database: Database;
  readonly path: string;
  query<Shape = Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Shape[]>;
  /** What verification reports after the statement, which is then rolled back. */
  verifyWith(sql: string, parameters?: readonly SqlValue[]): Promise<readonly Problem[]>;
  close(): Promise<void>;
}

export interface ServerOptions {
  /** For tests that make the server log errors. */
  readonly isTolerant?: boolean;
  /** The monotonic clock. */
  readonly nowMs?: () => number;
  readonly settings?: Settings;
  /** Acts as this person instead of as a client. */
  readonly person?: string;
}

type Settings = Readonly<
  Partial<Record<'COLIBRI_PROJECT' | 'COLIBRI_WORKFLOW' | 'COLIBRI_AGENT_ID' | 'COLIBRI_CLAIM_TTL', string>>
>;

/** Runs a test on a new ledger and verifies all of it at the end. */
export async function withServer(
  work: (server: TestServer) => Promise<void>,
  { clientName = 'tester', ...settings }: Settings & { readonly clientName?: string } = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const server = await openServer(join(folder, 'colibri.db'), clientName, { settings });
    try {
      await work(server);
      await assertWhole(server.database);
    } finally {
      await server.close();
    }
  });
}

/** One server for all tests of a file, which must not change its ledger. */
export function serverForAll(fill: (server: TestServer) => Promise<void>): () => TestServer {
  let open: { server: TestServer; folder: string } | undefined;
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'colibri-server-'));
    open = { server: await openServer(join(folder, 'colibri.db')), folder };
    await fill(open.server);
  });
  afterAll(async () => {
    if (open === undefined) return;
    await assertWhole(open.server.database);
    await open.server.close();
    rmSync(open.folder, { recursive: true, force: true });
  });
  return () => {
    if (open === undefined) throw new Error('the server is not open yet');
    return open.server;
  };
}

export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-server-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function assertWhole(database: Database): Promise<void> {
  const { problems } = await database.read((reader) => verifyEverything(reader));
  expect(problems).toEqual([]);
}

export async function openServer(
  path: string,
  clientName = 'tester',
  { isTolerant = false, nowMs = () => performance.now(), settings = {}, person }: ServerOptions = {},
): Promise<TestServer> {
  const read = readConfig({
    ...(await ledgerAt(path)),
    COLIBRI_DURABILITY: 'relaxed',
    ...settings,
  });
  // Beside `path` on either engine: the spool of the folder that the tests run in belongs to its user.
  const config = { ...read, projectDbPath: path, ...(person !== undefined && { agentId: `person:${person}` }) };
  const [near, far] = InMemoryTransport.createLinkedPair();
  const errors: string[] = [];
  const server = createServer({
    transport: far,
    mode: config.mode,
    agentId: config.agentId,
    nowMs,
    logger: (line) => errors.push(line),
    logLevel: 'error',
    installGlobalHandlers: false,
    loadLibrary: async () => createSurfaceLibrary(server.listTools(), config),
    boot: ({ chain }) => boot(config, chain.log, () => undefined),
  });
  const { runtime } = server.chain;
  const ports = {
    facts: notAsked,
    database: () => runtime.database,
    skills: () => undefined,
    pulse: notAsked,
    checkpoint: () => runtime.checkpoint,
  };
  for (const tool of createSurface(ports, config)) server.registerColibriTool(tool);
  await server.start();
  const client = new Client({ name: clientName, version: '1' });
  await client.connect(near);
  await runtime.passGate(false);
  const { database } = runtime;
  if (database === undefined) throw new Error(`the server has no ledger: ${runtime.failure?.message}`);
  return {
    ...createAgent(client),
    database,
    path,
    query: (sql, parameters = []) => database.read((reader) => reader.query(sql, parameters)),
    verifyWith: (sql, parameters = []) => verifyWith(database, sql, parameters),
    close: async () => {
      await client.close();
      await server.stop();
      if (!isTolerant) expect(errors).toEqual([]);
    },
  };
}

/** Carries a result out of a transaction that must be rolled back. */
class Undo extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super('rolled back on purpose');
  }
}

async function verifyWith(
  database: Database,
  sql: string,
  parameters: readonly SqlValue[],
): Promise<readonly Problem[]> {
  try {
    return await database.write({ durable: false }, async (transaction) => {
      await transaction.query(sql, parameters);
      throw new Undo((await verifyEverything(transaction)).problems);
    });
  } catch (error) {
    if (error instanceof Undo) return error.problems;
    throw error;
  }
}

function notAsked(): never {
  throw new Error('a test asked for the health of a server that has none');
}
