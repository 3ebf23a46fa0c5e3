/** A parsed database URL, with the secrets apart from what may be printed. */
export interface PostgresUrl {
  /** For the driver, with libpq's meaning of the sslmode values. */
  readonly connectionString: string;
  /** User, host and database: safe to print. */
  readonly location: string;
  /** Only those that the URL sets. */
  readonly timeouts: { readonly busyTimeoutMs?: number; readonly statementTimeoutMs?: number };
  /** Replaces every secret of the URL in a text. */
  readonly redact: (text: string) => string;
}

/** Parameters that are secrets or name a file with one. */
const SECRET = /pass|key|secret|token/i;

/** The modes of libpq except `allow`: the driver cannot start without TLS and fall back to it. */
const SSL_MODES: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** libpq's name for the system's trust store; the driver would open it as a file. */
const SYSTEM = 'system';
const STRICT = 'verify-full';

/** Server and driver would report a malformed value poorly, or cancel every statement. */
const TIMEOUTS: ReadonlySet<string> = new Set([
  'lock_timeout',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
]);
const MILLISECONDS = /^[1-9]\d{0,8}$/;

/** Returns why the URL cannot be used. Never repeats the URL, which may hold a password. */
export function findUrlProblem(text: string): string | undefined {
  if (!/^postgres(?:ql)?:/.test(text) || !URL.canParse(text))
    return 'is not a URL such as postgres://user:password@host:5432/database';
  const { searchParams } = new URL(text);
  for (const [name, value] of searchParams) {
    if (name === 'sslmode' && !SSL_MODES.includes(value))
      return `has ${shown(name, value)}; it is one of ${SSL_MODES.join(', ')}`;
    if (TIMEOUTS.has(name) && !MILLISECONDS.test(value))
      return `has ${shown(name, value)}; it is a whole number of milliseconds from 1 to 999999999`;
    // Anyone can get a certificate from a public authority for a host of their own.
    if (name === 'sslrootcert' && value === SYSTEM && (searchParams.get('sslmode') ?? STRICT) !== STRICT)
      return `has sslrootcert=${SYSTEM}, which goes with sslmode=${STRICT} alone`;
  }
  return undefined;
}

/** Repeats only short plain words and numbers: other text may be a misplaced secret. */
function shown(name: string, value: string): string {
  return /^[\w.+-]{0,40}$/.test(value) ? `${name}=${value}` : `a ${name} of another kind`;
}

/** Returns undefined if the URL cannot be used. */
export function parsePostgresUrl(text: string): PostgresUrl | undefined {
  if (findUrlProblem(text) !== undefined) return undefined;
  const url = new URL(text);
  const parameters = [...url.searchParams];
  const secrets = [url.password, ...parameters.filter(([name]) => SECRET.test(name)).map(([, value]) => value)];
  return {
    connectionString: withLibpqModes(url).href,
    location: locationOf(url),
    timeouts: {
      ...milliseconds('busyTimeoutMs', url.searchParams.get('lock_timeout')),
      ...milliseconds('statementTimeoutMs', url.searchParams.get('statement_timeout')),
    },
    redact: redactor(secrets),
  };
}

/** Otherwise the driver treats `require` as `verify-full` and prints a warning on every start. */
function withLibpqModes(url: URL): URL {
  const copy = new URL(url);
  if (copy.searchParams.get('sslrootcert') === SYSTEM) {
    copy.searchParams.delete('sslrootcert');
    copy.searchParams.set('sslmode', STRICT);
  }
  if (copy.searchParams.has('sslmode') && !copy.searchParams.has('uselibpqcompat'))
    copy.searchParams.set('uselibpqcompat', 'true');
  return copy;
}

function milliseconds<Name extends string>(name: Name, text: string | null): { [Key in Name]?: number } {
  return text === null ? {} : ({ [name]: Number(text) } as { [Key in Name]: number });
}

function locationOf(url: URL): string {
  const host = url.host || url.searchParams.get('host') || 'localhost';
  const user = url.username === '' ? '' : `${url.username}@`;
  return `postgres://${user}${host}${url.pathname}`;
}

function redactor(secrets: readonly string[]): (text: string) => string {
  const variants = secrets.flatMap((secret) =>
    secret === '' ? [] : [secret, decode(secret), encodeURIComponent(decode(secret))],
  );
  return (text) => variants.reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
