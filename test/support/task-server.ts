import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect } from 'vitest';
import { readConfig } from '../../src/config.ts';
import type { Database, Row } from '../../src/db/database.ts';
import { boot } from '../../src/runtime/boot.ts';
import { createServer } from '../../src/server.ts';
import { createSurface } from '../../src/surface.ts';
import type { Problem } from '../../src/verification/report.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { ledgerAt } from './ledger-targets.ts';
import { type Agent, createAgent } from './task-agent.ts';

/** A whole server on a file of its own, in this process: the stages, the tools and the ledger, without the pipes. */
export interface Desk extends Agent {
  readonly database: Database;
  query<Shape = Row>(sql: string, parameters?: readonly (string | number | null)[]): Promise<Shape[]>;
  /** What verification would say if the file were changed behind the server's back; the change is undone. */
  verifyWith(sql: string, parameters?: readonly (string | number | null)[]): Promise<readonly Problem[]>;
}

type Settings = Readonly<Partial<Record<'COLIBRI_PROJECT' | 'COLIBRI_WORKFLOW' | 'COLIBRI_AGENT_ID', string>>>;

/** Runs a test at a fresh desk; at the end the whole record must hold. */
export async function atDesk(work: (desk: Desk) => Promise<void>, settings: Settings = {}): Promise<void> {
  const { desk, close } = await openDesk(settings);
  try {
    await work(desk);
    await assertWhole(desk.database);
  } finally {
    await close();
  }
}

/** One desk for many tests that only look at it. */
export function deskForAll(fill: (desk: Desk) => Promise<void>): () => Desk {
  let open: { desk: Desk; close: () => Promise<void> } | undefined;
  beforeAll(async () => {
    open = await openDesk({});
    await fill(open.desk);
  });
  afterAll(async () => {
    if (open !== undefined) await assertWhole(open.desk.database);
    await open?.close();
  });
  return () => {
    if (open === undefined) throw new Error('the desk is not open yet');
    return open.desk;
  };
}

export async function assertWhole(database: Database): Promise<void> {
  const { problems } = await database.read(verifyEverything);
  expect(problems).toEqual([]);
}

async function openDesk(settings: Settings): Promise<{ desk: Desk; close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-tasks-'));
  const path = join(folder, 'colibri.db');
  const config = readConfig({ ...(await ledgerAt(path)), COLIBRI_DURABILITY: 'relaxed', ...settings });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const bugs: string[] = [];
  const server = createServer({
    transport: far,
    mode: config.mode,
    agentId: config.agentId,
    logger: (line) => bugs.push(line),
    logLevel: 'error',
    installGlobalHandlers: false,
    boot: ({ chain }) => boot(config, chain.log, () => undefined),
  });
  const { runtime } = server.chain;
  const ports = { facts: notAsked, pulse: notAsked, database: () => runtime.database, skills: () => undefined };
  for (const tool of createSurface(ports, config)) server.registerColibriTool(tool);
  await server.start();
  const client = new Client({ name: 'tester', version: '1' });
  await client.connect(near);
  await runtime.passGate(false);
  const { database } = runtime;
  if (database === undefined) throw new Error(`the desk has no ledger: ${runtime.failure?.message}`);
  const desk: Desk = {
    ...createAgent(client),
    database,
    query: <Shape>(sql: string, parameters: readonly (string | number | null)[] = []) =>
      database.read((reader) => reader.query<Shape>(sql, parameters)),
    verifyWith: (sql, parameters = []) => verifyWith(database, sql, parameters),
  };
  const close = async () => {
    await client.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
    expect(bugs).toEqual([]);
  };
  return { desk, close };
}

/** Carries a result out of a transaction that must not be kept. */
class Undo extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super('undone on purpose');
  }
}

async function verifyWith(
  database: Database,
  sql: string,
  parameters: readonly (string | number | null)[],
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
  throw new Error('a test about tasks asked for the health of the server');
}
