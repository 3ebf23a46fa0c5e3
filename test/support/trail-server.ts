import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { expect } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Database, Row, SqlValue } from '../../src/db/database.ts';
import { boot } from '../../src/runtime/boot.ts';
import { createServer } from '../../src/server.ts';
import { createSurface } from '../../src/surface.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { ledgerAt } from './ledger-targets.ts';
import { createCaller, type TrailCaller } from './trail-caller.ts';

/** A whole server on a file, in this process, with a client that talks to it. */
export interface TrailDesk extends TrailCaller {
  readonly client: Client;
  readonly database: Database;
  readonly path: string;
  query<Shape = Row>(sql: string, parameters?: readonly SqlValue[]): Promise<Shape[]>;
  close(): Promise<void>;
}

/** Runs a test on a ledger of its own; at the end the whole record must hold. */
export async function withDesk(work: (desk: TrailDesk) => Promise<void>, clientName = 'tester'): Promise<void> {
  await withFolder(async (folder) => {
    const desk = await openDesk(join(folder, 'colibri.db'), clientName);
    try {
      await work(desk);
      await assertWhole(desk.database);
    } finally {
      await desk.close();
    }
  });
}

export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-trail-'));
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

export interface DeskOptions {
  /** For tests that make the server log errors. */
  readonly isTolerant?: boolean;
  /** The monotonic clock. */
  readonly nowMs?: () => number;
}

export async function openDesk(
  path: string,
  clientName = 'tester',
  { isTolerant = false, nowMs = () => performance.now() }: DeskOptions = {},
): Promise<TrailDesk> {
  const config = readConfig({ ...(await ledgerAt(path)), COLIBRI_DURABILITY: 'relaxed' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const errors: string[] = [];
  const server = createServer({
    transport: far,
    mode: config.mode,
    nowMs,
    logger: (line) => errors.push(line),
    logLevel: 'error',
    installGlobalHandlers: false,
    boot: ({ chain }) => boot(config, chain.log, () => undefined),
  });
  const { runtime } = server.chain;
  const ports = { facts: notAsked, database: () => runtime.database, skills: () => undefined, pulse: notAsked };
  for (const tool of createSurface(ports, config)) server.registerColibriTool(tool);
  await server.start();
  const client = new Client({ name: clientName, version: '1' });
  await client.connect(near);
  await runtime.passGate(false);
  const { database } = runtime;
  if (database === undefined) throw new Error(`there is no ledger: ${runtime.failure?.message}`);
  return {
    ...createCaller(client),
    client,
    database,
    path,
    query: (sql, parameters = []) => database.read((reader) => reader.query(sql, parameters)),
    close: async () => {
      await client.close();
      await server.stop();
      if (!isTolerant) expect(errors).toEqual([]);
    },
  };
}

function notAsked(): never {
  throw new Error('a test of the trail asked for the health of the server');
}
