import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openSqlite, type SqliteOptions } from '../../src/db/sqlite/database.ts';
import { loadSqlite, type SqliteDriver } from '../../src/db/sqlite/driver.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { LedgerReport } from '../../src/verification/report.ts';
import { verifyTables } from '../../src/verification/verify-ledger.ts';
import { tempFolder } from './temp-folder.ts';

export const AT = '2026-01-02T03:04:05.678Z';

/** Closed with the test. The busy timeout is generous, so that a slow machine changes nothing. */
export async function openTestDatabase(options: Partial<SqliteOptions> = {}): Promise<Database> {
  const path = options.path ?? join(tempFolder(), 'colibri.db');
  const database = await openSqlite({ readOnly: false, durability: 'full', busyTimeoutMs: 30_000, ...options, path });
  onTestFinished(() => database.close());
  return database;
}

/** A database with a ledger in it that has its first entry and no other. */
export async function openTestLedger(options: Partial<SqliteOptions> = {}): Promise<Database> {
  const database = await openTestDatabase(options);
  await openLedger(database, 'tester', AT);
  return database;
}

/** The file behind the port's back, as anybody with an SQLite shell could open it. */
export async function openRaw(path: string): Promise<SqliteDriver> {
  const driver = (await loadSqlite()).open(path, { readOnly: false });
  driver.exec('PRAGMA busy_timeout = 30000');
  let isOpen = true;
  const close = (): void => {
    if (isOpen) driver.close();
    isOpen = false;
  };
  onTestFinished(close);
  return { ...driver, close };
}

/** Runs a script behind the port's back. */
export async function tamper(path: string, script: string): Promise<void> {
  const driver = await openRaw(path);
  driver.exec(script);
  driver.close();
}

export async function queryFile<Shape>(path: string, sql: string): Promise<Shape[]> {
  const driver = await openRaw(path);
  const rows = driver.prepare(sql).all([]) as Shape[];
  driver.close();
  return rows;
}

/** Checks the whole ledger in a file that a server has written to. */
export async function verifyFile(path: string): Promise<Omit<LedgerReport, 'fast'>> {
  const database = await openTestDatabase({ path, readOnly: true });
  const { size, root, problems } = await database.read(verifyTables);
  await database.close();
  expect(problems).toEqual([]);
  return { size, root, problems };
}

export async function expectWhole(database: Database): Promise<LedgerReport> {
  const report = await database.read(verifyTables);
  expect(report.problems).toEqual([]);
  return report;
}
