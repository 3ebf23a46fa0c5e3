import { DatabaseError, type DatabaseFault } from '../database.ts';
import { isPooled } from './pooler.ts';
import type { PostgresUrl } from './url.ts';

type Advice = readonly [fault: Exclude<DatabaseFault, 'other' | 'unknown'>, text: string];

const GONE: Advice = [
  'unavailable',
  'the database cannot be reached; check that its server runs and that the way to it is open, and call again',
];
/** A bind that does not fit the statement of that name; what a pooler itself has to say ends the connection. */
const PROTOCOL_VIOLATION = '08P01';
/** Logarithms are taken only to find out whether the backend is the one that this connection has marked. */
const SESSION_CHANGED = '2201E';
/** A new connection knows no statement, unless others have used it before. */
const STATEMENT_EXISTS = '42P05';
const LOST: Advice = ['lost', 'the connection to the database was lost, and nothing was changed; call again'];

export const REPLICA: Advice = [
  'readonly',
  'this is a read-only replica or a read-only role; point COLIBRI_DATABASE_URL at the primary, or use COLIBRI_MODE=READONLY',
];

/** By SQLSTATE, or by its class of two characters. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const ADVICE: Readonly<Record<string, Advice>> = {
  '08': GONE,
  [PROTOCOL_VIOLATION]: [
    'busy',
    'a statement of this server is another one on its connection; call again, and if it stays so put the pooler before the database into session mode',
  ],
  // Nothing that the server does not know is asked of it, so a statement that was understood before has changed under it.
  '0A000': ['busy', 'the tables of the ledger were changed while this server ran; call again'],
  // No root is taken but to find out that the ledger is newer, nothing divided but to find out that it is not finished.
  '2201F': ['refused', 'a newer Colibri has changed this ledger; update Colibri and restart its servers'],
  '22012': ['unavailable', 'a copy into this ledger is not finished; call again when colibri copy has ended'],
  // Numbers are given once and in order: only a row that no server wrote can have the next one already.
  '23505': [
    'corrupt',
    'a row that Colibri did not write is in the way; run colibri verify, and see "A ledger that takes no entry" in docs/postgres.md',
  ],
  '25006': REPLICA,
  '26000': [
    'busy',
    'the server has forgotten a statement; call again, and if it stays so a pooler before it is not in session mode',
  ],
  '28': ['refused', 'the server refused the user or the password in COLIBRI_DATABASE_URL'],
  '3D000': ['unavailable', 'there is no such database; create it (createdb) and start again'],
  '3F000': ['unavailable', 'the schema that search_path names does not exist; create it and start again'],
  '40001': ['busy', 'the server asked for another try; call again'],
  '40P01': ['busy', 'two writers waited for each other; call again'],
  '42P01': ['corrupt', 'a table of the ledger is missing; restore a backup'],
  '42501': [
    'unavailable',
    'the role lacks a privilege; to create or migrate the ledger start once as its owner, and for the rest docs/postgres.md has the script of grants',
  ],
  '53100': ['full', 'the disk of the database server is full; free some space there and call again'],
  '53300': [
    'unavailable',
    'the server has no connection left; raise max_connections, or put a pooler in session mode before it',
  ],
  '53': ['unavailable', 'the database server lacks memory or another resource; call again later'],
  '55P03': [
    'busy',
    'another server keeps the ledger locked; call again, and if it stays so see "A ledger that takes no entry" in docs/postgres.md',
  ],
  '57014': ['busy', 'the statement took too long and was cancelled; call again, or raise statement_timeout in the URL'],
  '57P01': GONE,
  '57P02': GONE,
  '57P03': GONE,
  '57P05': GONE,
  '25P03': GONE,
  XX001: ['corrupt', 'the database is damaged; restore a backup'],
  XX002: ['corrupt', 'an index of the database is damaged; REINDEX it, or restore a backup'],
};

/** What goes wrong before the server says a word: by the code of the system or of OpenSSL, or by the driver's text. */
const BEFORE: readonly (readonly [pattern: RegExp, advice: string, fault?: 'refused'])[] = [
  [/(?:ENOENT|EACCES|EISDIR): .*, (?:open|read)/, 'a file that the URL names cannot be read; check its path'],
  [
    /ALTNAME/,
    'the certificate of the server is for another host; use the host that it names, or sslmode=verify-ca in the URL',
  ],
  [
    /CERT|VERIFY_LEAF|UNABLE_TO_GET_ISSUER/,
    'the certificate of the server is not trusted; name its authority with sslrootcert=/path/to/ca.pem in the URL',
  ],
  [
    /does not support SSL/,
    'the server offers no TLS and sslmode asks for it; turn ssl on in the server, or say sslmode=disable where the network can be trusted',
  ],
  [/sslmode=verify-ca requires/, 'sslmode=verify-ca has nothing to verify with; add sslrootcert=/path/to/ca.pem'],
  [/SSL|TLS|EPROTO/, 'the server and this program do not agree on TLS; see sslmode and sslrootcert in the URL'],
  [
    /SASL|password must be a string/,
    'the server wants a password that was not given; put it into COLIBRI_DATABASE_URL, PGPASSWORD or ~/.pgpass, which nobody else may read',
    'refused',
  ],
];

/** What the driver says about a connection that it gave up. */
const DRIVER = /^(?:Connection terminated|Query read timeout|Client (?:has encountered|was closed)|timeout expired)/;

/** Turns what the driver threw into a sentence that a person can act on; what is no fault of the store stays as it is. */
export function explainPostgresFault(error: unknown, { location, redact, wasConnected }: Circumstances): unknown {
  if (error instanceof DatabaseError || !(error instanceof Error)) return error;
  if (isSessionChanged(error) || codeOf(error) === STATEMENT_EXISTS) return isPooled(location);
  const found = adviceFor(error) ?? (isConnectionEnded(error) ? GONE : undefined);
  if (found === undefined) return error;
  const [fault, text] = found === GONE && wasConnected ? LOST : found;
  return new DatabaseError(fault, `${location}: ${text} (${redact(describe(error))})`);
}

export interface Circumstances extends Pick<PostgresUrl, 'location' | 'redact'> {
  readonly wasConnected: boolean;
}

/** True when it is the connection that failed, and not a statement on it. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && (adviceFor(error) === GONE || isEndedByReplay(error));
}

/** What a replica has to replay may be in the way of a statement, or of the connection as a whole. */
function isEndedByReplay(error: Error): boolean {
  return codeOf(error) === '40001' && 'severity' in error && error.severity === 'FATAL';
}

/** The same for a connection that was there: a server that says FATAL or PANIC ends it, whatever the reason. */
export function isConnectionEnded(error: unknown): boolean {
  return isLastWord(error) || isConnectionLost(error);
}

function isLastWord(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && /^(?:FATAL|PANIC)$/.test(String(error.severity));
}

/** True when another backend answered than the one that this connection has marked. */
export function isSessionChanged(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === SESSION_CHANGED;
}

/** The server speaks with a severity and a SQLSTATE; everything else comes from the network, from TLS or the driver. */
function adviceFor(error: Error): Advice | undefined {
  const code = codeOf(error) ?? '';
  if (code === PROTOCOL_VIOLATION && isLastWord(error)) return GONE;
  if ('severity' in error) return ADVICE[code] ?? ADVICE[code.slice(0, 2)];
  const known = BEFORE.find(([pattern]) => pattern.test(`${code} ${error.message}`));
  if (known !== undefined) return [known[2] ?? 'unavailable', known[1]];
  const isOfSystem = 'syscall' in error || error instanceof AggregateError;
  return isOfSystem || DRIVER.test(error.message) ? GONE : undefined;
}

/** The key of a row that is there twice stands in the detail. */
function describe(error: Error): string {
  const { table, detail } = error as Error & { readonly table?: string; readonly detail?: string };
  return codeOf(error) === '23505' && table && detail ? `${error.message}: ${table}: ${detail}` : error.message;
}

/** Several addresses of one host fail together; the first tells. */
function codeOf(error: Error): string | undefined {
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof AggregateError && error.errors[0] instanceof Error ? codeOf(error.errors[0]) : undefined;
}
