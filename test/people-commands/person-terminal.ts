import { join } from 'node:path';
import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/trust/open-database.ts';
import { verifyEverything } from '../../src/verification/verify-ledger.ts';
import { databaseAt, ledgerAt } from '../support/ledger-targets.ts';
import { cleanEnvironment, type Ran, runColibri } from '../support/program.ts';
import { withFolder } from '../support/test-server.ts';

export interface Terminal {
  readonly path: string;
  /** Runs a command as ada, unless the arguments name another person. */
  readonly run: (args: readonly string[], stdin?: string | Uint8Array) => Promise<Ran>;
  /** The lines of a command that must succeed. */
  readonly lines: (...args: readonly string[]) => Promise<string[]>;
  /** The sentence of a command that must be refused with this exit code. */
  readonly refused: (status: number, ...args: readonly string[]) => Promise<string>;
  readonly env: Record<string, string>;
  readonly folder: string;
}

/** A person at a terminal, with a new ledger that must be whole at the end. */
export function atTerminal(work: (terminal: Terminal) => Promise<void>, variables: Record<string, string> = {}) {
  return withFolder(async (folder) => {
    const path = join(folder, 'colibri.db');
    const env = cleanEnvironment({ ...(await ledgerAt(path)), ...variables });
    const run: Terminal['run'] = ([name = '', ...args], stdin) => {
      const person = args.includes('--as') || READS.has(name) ? [] : ['--as', 'ada'];
      return runColibri([name, ...person, ...args], env, folder, stdin);
    };
    const lines: Terminal['lines'] = async (...args) => {
      const { status, stdout, stderr } = await run(args);
      expect([args, status, withoutCreated(stderr)]).toEqual([args, 0, '']);
      return stdout.trimEnd().split('\n');
    };
    const refused: Terminal['refused'] = async (expected, ...args) => {
      const { status, stdout, stderr } = await run(args);
      expect([args, status, stdout]).toEqual([args, expected, '']);
      const said = withoutCreated(stderr).trimEnd();
      expect(said.split('\n').length, said).toBe(1);
      return said;
    };
    await work({ path, run, lines, refused, env, folder });
    await withLedger(path, async (database) => {
      const { problems } = await database.read((reader) => verifyEverything(reader));
      expect(problems).toEqual([]);
    });
  });
}

const READS: ReadonlySet<string> = new Set(['search', 'verify', 'show', 'timeline', 'board', 'log', '--help', 'serve']);

function withoutCreated(stderr: string): string {
  return stderr.replace(/^Created the ledger .*\n/, '');
}

export async function withLedger<Result>(path: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const place = await databaseAt(path);
  const database = await openDatabase({ ...place, mode: 'READONLY', durability: 'full', readOnly: true });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

export interface Recorded {
  readonly tool: string;
  readonly actor: string;
  readonly outcome: string | null;
}

export function listCalls(path: string): Promise<Recorded[]> {
  return withLedger(path, (database) =>
    database.read((reader) => reader.query('SELECT tool, actor, outcome FROM calls ORDER BY sequence_no')),
  );
}
