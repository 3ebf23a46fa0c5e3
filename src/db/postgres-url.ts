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

/** Undefined when the text is no URL of PostgreSQL. The text itself is in no message: it may hold a password. */
export function parsePostgresUrl(text: string): PostgresUrl | undefined {
  if (!/^postgres(?:ql)?:/.test(text) || !URL.canParse(text)) return undefined;
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
  if (copy.searchParams.has('sslmode') && !copy.searchParams.has('uselibpqcompat'))
    copy.searchParams.set('uselibpqcompat', 'true');
  return copy;
}

function milliseconds<Name extends string>(name: Name, text: string | null): { [Key in Name]?: number } {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? ({ [name]: Number(text) } as { [Key in Name]: number }) : {};
}

function locationOf(url: URL): string {
  const host = url.host || url.searchParams.get('host') || 'localhost';
  const user = url.username === '' ? '' : `${url.username}@`;
  return `postgres://${user}${host}${url.pathname}`;
}

function redactor(secrets: readonly string[]): (text: string) => string {
  const spellings = secrets.flatMap((secret) => (secret === '' ? [] : [secret, decode(secret)]));
  return (text) => spellings.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
