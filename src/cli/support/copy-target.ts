import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Database, DatabaseError } from '../../db/database.ts';
import { type OpenOptions, openDatabase } from '../../db/open.ts';
import { findUrlProblem } from '../../db/postgres/url.ts';
import { SchemaError } from '../../db/schema/difference.ts';
import { EXIT, Refusal } from './command-result.ts';

type Place = Pick<OpenOptions, 'databaseUrl' | 'dbPath'>;

/** The text may hold a password: it is in no message. */
export function readPlace(to: string): Place {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(to) ? readUrl(to) : { dbPath: readPath(to) };
}

export async function openTarget(place: Place): Promise<Database> {
  try {
    return await openDatabase({ ...place, mode: 'FULL', durability: 'full', readOnly: false, acceptsUnfinished: true });
  } catch (error) {
    throw withCliFlagNames(error);
  }
}

function readUrl(to: string): Place {
  const problem = findUrlProblem(to);
  if (problem === undefined) return { databaseUrl: to, dbPath: undefined };
  throw badInput(`--to ${problem}`);
}

function readPath(to: string): string {
  const path = resolve(to);
  if (to === '') throw badInput('--to is empty; name a postgres:// URL or a file');
  if (existsSync(path) && statSync(path).isDirectory()) throw badInput(`${path} is a folder; name a file in it`);
  if (/-(?:wal|shm|journal)$/.test(path))
    throw badInput(`${path} is a name that SQLite uses itself; name another file`);
  return path;
}

function badInput(message: string): Refusal {
  return new Refusal(EXIT.badInput, 'bad input', message);
}

/** The port advises about the variables by which a server finds its ledger. */
function withCliFlagNames(error: unknown): unknown {
  if (!(error instanceof DatabaseError) || error instanceof SchemaError) return error;
  return new DatabaseError(error.fault, error.message.replaceAll(/COLIBRI_(?:DATABASE_URL|DB_PATH)/g, '--to'));
}
