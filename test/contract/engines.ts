import { join } from 'node:path';
import { describe } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openTestDatabase } from '../support/database.ts';
import { type PortProcess, startPortProcess } from '../support/port-process.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** An engine behind the port, as the contract needs it: places to put a database, and ways in. */
export interface Engine {
  readonly name: Database['engine'];
  /** Where nothing is yet. */
  newLocation(): string;
  open(location: string, options?: { readonly busyTimeoutMs?: number }): Promise<Database>;
  /** Another process on the same database. */
  startProcess(location: string): Promise<PortProcess>;
}

const sqlite: Engine = {
  name: 'sqlite',
  newLocation: () => join(tempFolder(), 'contract.db'),
  open: (path, options = {}) => openTestDatabase({ path, ...options }),
  startProcess: startPortProcess,
};

const ENGINES: readonly Engine[] = [sqlite];

/** Every engine keeps the same contract. */
export function describeContract(topic: string, tests: (engine: Engine) => void): void {
  for (const engine of ENGINES) describe(`${topic} on ${engine.name}`, () => tests(engine));
}

/** A database that Colibri takes for its own, with tables of the test's. */
export async function openWith(engine: Engine, location: string, tables: string): Promise<Database> {
  const database = await engine.open(location);
  await database.write({ durable: false }, async (transaction) => {
    await transaction.run(tables);
    await transaction.setSchemaVersion(1);
  });
  return database;
}

/** A table of words is enough to see what becomes of a statement. */
export function openWords(engine: Engine, location = engine.newLocation()): Promise<Database> {
  return openWith(engine, location, 'CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT, amount BIGINT)');
}

export async function listWords(database: Database): Promise<string[]> {
  const rows = await database.read((reader) => reader.query<{ word: string }>('SELECT word FROM words ORDER BY word'));
  return rows.map(({ word }) => word);
}

export function insertWord(database: Database, word: string): Promise<unknown> {
  return database.write({ durable: false }, (transaction) =>
    transaction.query('INSERT INTO words (word) VALUES ($1)', [word]),
  );
}
