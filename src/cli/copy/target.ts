import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Database, DatabaseError, type DatabaseFault } from '../../db/database.ts';
import { findUrlProblem } from '../../db/postgres/url.ts';
import { SchemaError } from '../../db/schema/difference.ts';
import { type OpenOptions, openDatabase } from '../../trust/open-database.ts';
import { isSideFile } from '../support/atomic-file.ts';
import { CommandError } from '../support/command-result.ts';

type TargetLocation = Pick<OpenOptions, 'databaseUrl' | 'dbPath'>;

/** Reads the value of --to. It may contain a password, so no message repeats a URL. */
export function parseTarget(to: string): TargetLocation {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(to) ? parseUrl(to) : { dbPath: parsePath(to) };
}

export async function openTarget(location: TargetLocation): Promise<Database> {
  try {
    return await openDatabase({
      ...location,
      mode: 'FULL',
      durability: 'full',
      readOnly: false,
      acceptsUnfinished: true,
    });
  } catch (error) {
    throw withTargetAdvice(error);
  }
}

function parseUrl(to: string): TargetLocation {
  const problem = findUrlProblem(to);
  if (problem === undefined) return { databaseUrl: to, dbPath: undefined };
  throw new CommandError('bad input', `--to ${problem}`);
}

function parsePath(to: string): string {
  const path = resolve(to);
  if (to === '') throw badInput('--to is empty', 'pass a postgres:// URL or a file');
  if (existsSync(path) && statSync(path).isDirectory()) throw badInput(`${path} is a folder`, 'name a file in it');
  if (isSideFile(path)) throw badInput(`SQLite reserves the name ${path}`, 'choose another file');
  return path;
}

function badInput(problem: string, advice: string): CommandError {
  return new CommandError('bad input', problem, { advice });
}

const TARGET_ADVICE: Partial<Record<DatabaseFault, string>> = {
  corrupt: 'choose another target with --to',
  readonly: 'choose a target with --to that this user may write',
};

/** The advice of the port names the variables by which a server finds its ledger. */
function withTargetAdvice(error: unknown): unknown {
  if (!(error instanceof DatabaseError) || error instanceof SchemaError) return error;
  const { fault, problem, advice, cause } = error;
  return new DatabaseError(fault, problem, { advice: TARGET_ADVICE[fault] ?? advice, cause });
}
