import { DatabaseError, type DatabaseFault } from '../database.ts';
import { poolerError } from './pooler.ts';
import type { PostgresUrl } from './url.ts';

interface Explanation {
  readonly fault: Exclude<DatabaseFault, 'other' | 'unknown'>;
  readonly problem: string;
  readonly advice: string;
}

const GONE: Explanation = {
  fault: 'unavailable',
  problem: 'the database cannot be reached',
  advice: 'check that its server runs and that the network lets this machine connect to it, and call again',
};
const LOST: Explanation = {
  fault: 'lost',
  problem: 'the connection to the database was lost, and nothing was changed',
  advice: 'call again',
};
/** A bind that does not fit the statement of that name. A pooler's own protocol error ends the connection instead. */
const PROTOCOL_VIOLATION = '08P01';
/** The only logarithm is the one of `sameSession`. */
const SESSION_CHANGED = '2201E';
/** A new connection has no prepared statements, unless other clients have used its backend before. */
const STATEMENT_EXISTS = '42P05';

export const REPLICA: Explanation = {
  fault: 'readonly',
  problem: 'this is a read-only replica or a read-only role',
  advice: 'point COLIBRI_DATABASE_URL at the primary, or use COLIBRI_MODE=READONLY',
};

/**
 * Keyed by SQLSTATE, or by its class of two characters. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  '08': GONE,
  [PROTOCOL_VIOLATION]: busy(
    'a prepared statement of this server has another meaning on its connection',
    'call again, and if it happens again put the pooler in front of the database into session mode',
  ),
  // "cached plan must not change result type": the tables have changed since the statement was prepared.
  '0A000': busy('the tables of the ledger were changed while this server ran', 'call again'),
  // The only square root and the only division are the checks of the write lock.
  '2201F': {
    fault: 'refused',
    problem: 'a newer Colibri has changed this ledger',
    advice: 'update Colibri and restart its servers',
  },
  '22012': unavailable('a copy into this ledger is not finished', 'call again when colibri copy has ended'),
  // Indexes are assigned once and in order: only a row that no server wrote can already have the next one.
  '23505': corrupt(
    'a row that Colibri did not write blocks the next entry',
    'run colibri verify, and see "A ledger that takes no entry" in docs/postgres.md',
  ),
  '25006': REPLICA,
  '26000': busy(
    'the database server has dropped a prepared statement',
    'call again, and if it happens again put the pooler in front of the database into session mode',
  ),
  '28': {
    fault: 'refused',
    problem: 'the server refused the user or the password',
    advice: 'correct the user and the password',
  },
  '3D000': unavailable('the database does not exist', 'create it (createdb) and start again'),
  '3F000': unavailable('the schema that search_path names does not exist', 'create it and start again'),
  '40001': busy('the database server could not serialize the transaction', 'call again'),
  '40P01': busy('the database server ended a deadlock', 'call again'),
  '42P01': corrupt('a table of the ledger is missing', 'restore a backup'),
  '42501': unavailable(
    'the role lacks a privilege',
    'use the role of the owner to create, migrate or redact or to set options, and run the script of grants in docs/postgres.md for the rest',
  ),
  '53100': {
    fault: 'full',
    problem: 'the disk of the database server is full',
    advice: 'free some space there and call again',
  },
  '53300': unavailable(
    'the database server has no connection left',
    'raise max_connections: every running server keeps one connection',
  ),
  '53': unavailable('the database server lacks memory or another resource', 'call again later'),
  '55P03': busy(
    'another server keeps the ledger locked',
    'call again, and if it happens again see "A ledger that takes no entry" in docs/postgres.md',
  ),
  '57014': busy('the statement took too long and was canceled', 'call again, or raise statement_timeout in the URL'),
  '57P01': GONE,
  '57P02': GONE,
  '57P03': GONE,
  '57P05': GONE,
  '25P03': GONE,
  XX001: corrupt('the database is damaged', 'restore a backup'),
  XX002: corrupt('an index of the database is damaged', 'REINDEX it, or restore a backup'),
};

function busy(problem: string, advice: string): Explanation {
  return { fault: 'busy', problem, advice };
}

function unavailable(problem: string, advice: string): Explanation {
  return { fault: 'unavailable', problem, advice };
}

function corrupt(problem: string, advice: string): Explanation {
  return { fault: 'corrupt', problem, advice };
}

/** Failures before the server answers, by the code of the system or of OpenSSL, or by the driver's text. */
const BEFORE_LOGIN: readonly (readonly [pattern: RegExp, explanation: Explanation])[] = [
  [
    /(?:ENOENT|EACCES|EISDIR): .*, (?:open|read)/,
    unavailable('a file that the URL names cannot be read', 'check its path'),
  ],
  [
    /ALTNAME/,
    unavailable(
      'the certificate of the server is for another host',
      'use the host that it names, or sslmode=verify-ca in the URL',
    ),
  ],
  [
    /CERT|VERIFY_LEAF|UNABLE_TO_GET_ISSUER/,
    unavailable(
      'the certificate of the server is not trusted',
      'name its authority with sslrootcert=/path/to/ca.pem in the URL',
    ),
  ],
  [
    /does not support SSL/,
    unavailable(
      'the server offers no TLS and sslmode requires it',
      'turn ssl on in the server, or set sslmode=disable in the URL on a trusted network',
    ),
  ],
  [
    /sslmode=verify-ca requires/,
    unavailable('sslmode=verify-ca needs a certificate authority', 'add sslrootcert=/path/to/ca.pem to the URL'),
  ],
  [
    /SSL|TLS|EPROTO/,
    unavailable('the TLS handshake with the server failed', 'check sslmode and sslrootcert in the URL'),
  ],
  [
    /SASL|password must be a string/,
    {
      fault: 'refused',
      problem: 'the server requires a password and none was given',
      advice: 'put it into COLIBRI_DATABASE_URL, PGPASSWORD or ~/.pgpass, which only you may read',
    },
  ],
];

/** The driver's messages about a connection that it gave up. */
const DRIVER = /^(?:Connection terminated|Query read timeout|Client (?:has encountered|was closed)|timeout expired)/;

/**
 * Turns an error of the driver into one that the user can act on. Returns an error that is not the store's unchanged.
 */
export function explainPostgresFault(error: unknown, { location, redact, wasConnected }: Circumstances): unknown {
  if (error instanceof DatabaseError || !(error instanceof Error)) return error;
  if (isSessionChanged(error) || codeOf(error) === STATEMENT_EXISTS) return poolerError(location);
  const found = findExplanation(error) ?? (isConnectionEnded(error) ? GONE : undefined);
  if (found === undefined) return error;
  const { fault, problem, advice } = found === GONE && wasConnected ? LOST : found;
  return new DatabaseError(fault, `${location}: ${problem} (${redact(describe(error))})`, { advice });
}

export interface Circumstances extends Pick<PostgresUrl, 'location' | 'redact'> {
  readonly wasConnected: boolean;
}

/** True if the connection failed, and not a statement on it. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && (findExplanation(error) === GONE || isEndedByReplay(error));
}

/** On a replica, replaying the log can cancel a statement (40001 as ERROR) or end the connection (as FATAL). */
function isEndedByReplay(error: Error): boolean {
  return codeOf(error) === '40001' && 'severity' in error && error.severity === 'FATAL';
}

/** The same for an established connection: FATAL and PANIC end it, whatever the reason. */
export function isConnectionEnded(error: unknown): boolean {
  return isFatal(error) || isConnectionLost(error);
}

function isFatal(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && /^(?:FATAL|PANIC)$/.test(String(error.severity));
}

/** True if another backend answered than the one that this connection has marked. */
export function isSessionChanged(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === SESSION_CHANGED;
}

/**
 * Insufficient resources, operator intervention, system error: a state of the server, not a property of the statement.
 */
export function isServerCondition(error: unknown): boolean {
  return error instanceof Error && /^(?:53|57|58)/.test(codeOf(error) ?? '');
}

/** An error of the server has a severity and a SQLSTATE. Every other one comes from the network, TLS or the driver. */
function findExplanation(error: Error): Explanation | undefined {
  const code = codeOf(error) ?? '';
  if (code === PROTOCOL_VIOLATION && isFatal(error)) return GONE;
  if ('severity' in error) return EXPLANATIONS[code] ?? EXPLANATIONS[code.slice(0, 2)];
  const known = BEFORE_LOGIN.find(([pattern]) => pattern.test(`${code} ${error.message}`));
  if (known !== undefined) return known[1];
  const isSystemError = 'syscall' in error || error instanceof AggregateError;
  return isSystemError || DRIVER.test(error.message) ? GONE : undefined;
}

/** For a duplicate key the detail names the row. */
function describe(error: Error): string {
  const { table, detail } = error as Error & { readonly table?: string; readonly detail?: string };
  return codeOf(error) === '23505' && table && detail ? `${error.message}: ${table}: ${detail}` : error.message;
}

/** Node reports the failures of several addresses of one host together. */
function codeOf(error: Error): string | undefined {
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof AggregateError && error.errors[0] instanceof Error ? codeOf(error.errors[0]) : undefined;
}
