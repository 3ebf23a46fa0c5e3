import type { Client } from 'pg';
import type { PostgresOptions } from './database.ts';

type Limits = Pick<PostgresOptions, 'readOnly' | 'busyTimeoutMs' | 'statementTimeoutMs'>;

/**
 * Sets up a new connection and marks its backend, in one round trip. Returns false, and sets nothing, if the backend is
 * not the one that answered the login: then there is a pooler in between.
 */
export async function startSession(client: Client, mark: string, limits: Limits): Promise<boolean> {
  const { processID } = client as Client & { readonly processID?: number | null };
  return prepare(client, mark, limits, `pg_backend_pid() = ${processID ?? 0}`);
}

/** The same behind a pooler, on whichever backend answers. */
export async function startPooledSession(client: Client, mark: string, limits: Limits): Promise<void> {
  await prepare(client, mark, limits, 'TRUE');
}

/**
 * SQL that fails with SQLSTATE 2201E unless the backend is the one that `startSession` has marked. On another backend
 * of a pooler the settings, the prepared statements and the presence lock are missing.
 */
export function sameSession(mark: string): string {
  const isSame = `current_setting('${MARK}', true) = pg_backend_pid() || '/' || CAST(${mark} AS TEXT)`;
  return `ln(CASE WHEN ${isSame} THEN 1 ELSE 0 END)`;
}

/** The same with a literal, for a script that takes no parameters; a mark is hexadecimal. */
export function sameSessionAs(mark: string): string {
  return sameSession(`'${mark}'`);
}

const MARK = 'colibri.session';
const SCHEMAS = 'colibri.schemas';

async function prepare(client: Client, mark: string, limits: Limits, condition: string): Promise<boolean> {
  const settings = Object.entries(settingsOf(limits)).map(([name, value]) => `('${name}', '${value}')`);
  const script = `
    SELECT pg_catalog.set_config('${SCHEMAS}', CAST(pg_catalog.current_schemas(FALSE) AS pg_catalog.text), TRUE);
    SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', TRUE);
    SELECT CASE WHEN ${condition} THEN (
      SELECT COUNT(set_config(name, value, FALSE))
      FROM (VALUES ${settings.join(', ')}, ('search_path', (${SEARCH_PATH})),
        ('${MARK}', pg_backend_pid() || '/' || '${mark}')) AS settings (name, value)
      WHERE value IS NOT NULL AND (current_setting(name, TRUE) IS NOT NULL OR name = '${MARK}')
    ) END AS count`;
  const results = (await client.query(script)) as unknown as readonly { rows: { count: number | null }[] }[];
  return results.at(-1)?.rows[0]?.count != null;
}

/**
 * The schema that holds the ledger, or else the first one on the path, alone: objects in later schemas could replace a
 * missing table or function. https://www.postgresql.org/docs/current/ddl-schemas.html#DDL-SCHEMAS-PATTERNS
 */
const SEARCH_PATH = `
  SELECT quote_ident(nspname) || ', pg_temp'
  FROM unnest(CAST(current_setting('${SCHEMAS}') AS NAME[])) WITH ORDINALITY AS path (name, place)
  JOIN pg_namespace ON nspname = name
  WHERE NOT starts_with(nspname, 'pg_')
  ORDER BY EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = pg_namespace.oid AND relname = 'colibri') DESC, place
  LIMIT 1`;

/**
 * Databases and roles can have their own defaults for all of these. Settings that the server does not know are skipped.
 */
function settingsOf({
  readOnly,
  busyTimeoutMs,
  statementTimeoutMs,
}: Limits): Readonly<Record<string, string | number>> {
  return { ...MEANING, ...RESULTS, ...limitsOf(busyTimeoutMs, statementTimeoutMs), ...modeOf(readOnly) };
}

/** Settings that change what a statement means or may do. */
const MEANING = {
  array_nulls: 'on',
  backslash_quote: 'safe_encoding',
  exit_on_error: 'off',
  // Hidden rows become an error: verification must not mistake the visible rows for all rows.
  row_security: 'off',
  restrict_nonsystem_relation_kind: '',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
};

/** Settings that change the format of values or the set of rows. */
const RESULTS = {
  bytea_output: 'hex',
  client_encoding: 'UTF8',
  client_min_messages: 'warning',
  datestyle: 'ISO, MDY',
  // The shortest text that reads back as the same number.
  extra_float_digits: 1,
  // Any other limit makes a GIN index return a random subset.
  gin_fuzzy_search_limit: 0,
  intervalstyle: 'postgres',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
  quote_all_identifiers: 'off',
  synchronize_seqscans: 'off',
  timezone: 'UTC',
};

/** A client that dies keeps its locks until the server notices; these make it notice soon. */
function limitsOf(busyTimeoutMs: number, statementTimeoutMs: number) {
  return {
    idle_in_transaction_session_timeout: Math.max(1000, Math.floor(busyTimeoutMs / 2)),
    idle_session_timeout: 0,
    lock_timeout: busyTimeoutMs,
    statement_timeout: statementTimeoutMs,
    tcp_keepalives_count: 3,
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 5,
    tcp_user_timeout: 20_000,
    // A verification is one long transaction.
    transaction_timeout: 0,
  };
}

function modeOf(readOnly: boolean) {
  return {
    default_transaction_deferrable: 'off',
    // A writer that waited for the lock must see what others committed in the meantime.
    default_transaction_isolation: 'read committed',
    default_transaction_read_only: readOnly ? 'on' : 'off',
  };
}
