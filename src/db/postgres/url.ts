/** What a database URL says, with the secrets kept apart from what people may see. */
export interface PostgresUrl {
  /** For the driver: with what libpq means by the modes of TLS. */
  readonly connectionString: string;
  /** For people: who, where and which, never how. */
  readonly location: string;
  /** In milliseconds, where the URL names them. */
  readonly timeouts: { readonly busyTimeoutMs?: number; readonly statementTimeoutMs?: number };
  /** Takes every secret of the URL out of a text. */
  readonly redact: (text: string) => string;
}

/** Parameters that are secrets, or lead to one. */
const SECRET = /pass|key|secret|token/i;

/** Those of libpq that can be kept: the driver cannot fall back to a connection in the clear, as `allow` would. */
const SSL_MODES: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** The authorities that the machine trusts, in the words of libpq; the driver would take it for a file. */
const SYSTEM = 'system';
const STRICT = 'verify-full';

/** Of the server or of the driver: one that is no number would be refused in their words, or cut every statement short. */
const TIMEOUTS: ReadonlySet<string> = new Set([
  'lock_timeout',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
]);
const MILLISECONDS = /^[1-9]\d{0,8}$/;

/** What keeps the text from being a URL that can be used; the text itself is not in it, for it may hold a password. */
export function findUrlProblem(text: string): string | undefined {
  if (!/^postgres(?:ql)?:/.test(text) || !URL.canParse(text))
    return 'is not a URL such as postgres://user:password@host:5432/database';
  const { searchParams } = new URL(text);
  for (const [name, value] of searchParams) {
    if (name === 'sslmode' && !SSL_MODES.includes(value))
      return `has ${shown(name, value)}; it is one of ${SSL_MODES.join(', ')}`;
    if (TIMEOUTS.has(name) && !MILLISECONDS.test(value))
      return `has ${shown(name, value)}; it is a whole number of milliseconds from 1 to 999999999`;
    // Anybody can get a certificate of a public authority, for a host of their own.
    if (name === 'sslrootcert' && value === SYSTEM && (searchParams.get('sslmode') ?? STRICT) !== STRICT)
      return `has sslrootcert=${SYSTEM}, which goes with sslmode=${STRICT} alone`;
  }
  return undefined;
}

/** A text that looks like no number and no word is not repeated: who knows what was pasted there. */
function shown(name: string, value: string): string {
  return /^[\w.+-]{0,40}$/.test(value) ? `${name}=${value}` : `a ${name} of another kind`;
}

/** Undefined when there is a problem with the URL. */
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

/** Without it the driver takes `require` for `verify-full` and says so on every start. */
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
  const spellings = secrets.flatMap((secret) =>
    secret === '' ? [] : [secret, decode(secret), encodeURIComponent(decode(secret))],
  );
  return (text) => spellings.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
