import { refuseRollback } from '../../checkpoints/open-signing.ts';
import type { Config } from '../../config.ts';
import type { Database, Reader } from '../../db/database.ts';
import { assertKnown, SCHEMA_VERSION } from '../../db/migrate.ts';
import { toError } from '../../errors.ts';
import { readHead } from '../../ledger/head.ts';
import { openLedgerReadOnly } from '../../ledger/open.ts';
import { writesLedger } from '../../modes.ts';
import { listCoverage } from '../../recorder/reports/list-reports.ts';
import { openDatabase } from '../../trust/open-database.ts';
import { checkCoverage } from './coverage.ts';
import { type Finding, fail, failFrom, ok, UNFINISHED_ADVICE, warn } from './finding.ts';

/** The oldest version that the tests run with. */
const OLDEST_MAJOR = 14;
/** With fewer free connections, the next agents may not get one. */
const FEW_CONNECTIONS = 10;

/** Checks a ledger in PostgreSQL over a read-only connection. */
export async function checkPostgres(config: Config): Promise<Finding[]> {
  if (config.mode === 'MINIMAL') return [ok('ledger', 'not opened in mode MINIMAL')];
  let database: Database | undefined;
  try {
    database = await openDatabase({ ...config, readOnly: true });
    const facts = await database.read(readServer);
    const contents = await checkContents(database, facts);
    return [
      contents,
      ...(contents.status === 'ok' ? checkCoverage(await database.read(listCoverage)) : []),
      checkServer(facts, config),
      checkRole(facts, config),
      await checkDurability(database),
      checkEncryption(facts),
      checkConnections(facts),
    ];
  } catch (error) {
    return [failFrom('ledger', toError(error))];
  } finally {
    await database?.close();
  }
}

interface ServerFacts {
  readonly version: string;
  readonly major: number;
  readonly is_replica: number;
  readonly role: string;
  readonly may_create: number;
  /** Null if there is no ledger yet. */
  readonly may_append: number | null;
  readonly may_rewrite: number | null;
  /** Tables that servers add rows to and this role may not. */
  readonly unwritable: string | null;
  readonly is_encrypted: number;
  readonly is_local: number;
  readonly servers: number;
  readonly connections: number;
  readonly max_connections: number;
}

/** Needs no privilege beyond CONNECT. */
async function readServer(reader: Reader): Promise<ServerFacts> {
  const [facts] = await reader.query<ServerFacts>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
       current_setting('server_version_num')::int / 10000 AS major,
       pg_is_in_recovery() AS is_replica,
       current_user AS role,
       has_schema_privilege(current_schema(), 'CREATE') AS may_create,
       has_table_privilege(to_regclass('ledger_entries'), 'INSERT') AS may_append,
       has_table_privilege(to_regclass('ledger_entries'), 'UPDATE, DELETE, TRUNCATE') AS may_rewrite,
       (SELECT string_agg(tablename, ', ' ORDER BY tablename) FROM pg_tables
        WHERE schemaname = current_schema()
        AND NOT has_table_privilege(to_regclass(quote_ident(tablename)), 'INSERT')
        AND tablename NOT IN ('colibri', 'ledger_head', 'project_options', 'redactions')) AS unwritable,
       (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS is_encrypted,
       COALESCE(inet_client_addr() <<= '127.0.0.0/8' OR inet_client_addr() = '::1', TRUE) AS is_local,
       (SELECT COUNT(*) FROM pg_stat_activity
        WHERE application_name = 'colibri' AND datname = current_database() AND pid <> pg_backend_pid()) AS servers,
       (SELECT SUM(numbackends) FROM pg_stat_database) AS connections,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         AS max_connections`,
  );
  if (facts === undefined) throw new Error('the server returned no row');
  return facts;
}

async function checkContents(database: Database, { may_create, role }: ServerFacts): Promise<Finding> {
  const { location } = database;
  try {
    const version = assertKnown(location, await database.schemaVersion());
    if (version < 0) return fail('ledger', `${location} is an unfinished copy`, UNFINISHED_ADVICE);
    if (version < SCHEMA_VERSION) {
      const message = version === 0 ? `no ledger in ${location} yet` : `${location} has schema ${version}`;
      return may_create === 1
        ? warn('ledger', message, `start a server; it migrates the ledger to schema ${SCHEMA_VERSION}`)
        : fail('ledger', `${message}, and ${role} may not create tables`, 'start a server once as the owner');
    }
    await openLedgerReadOnly(database);
    await refuseRollback(database);
    const { size, root } = await database.read(readHead);
    return ok('ledger', `${location}, schema ${version}, ${size} entries, root ${root}`);
  } catch (error) {
    return failFrom('ledger', toError(error));
  }
}

export function checkServer(
  { version, major, is_replica }: Pick<ServerFacts, 'version' | 'major' | 'is_replica'>,
  { mode }: Pick<Config, 'mode'>,
): Finding {
  const message = `PostgreSQL ${version}, ${is_replica === 1 ? 'a read-only replica' : 'a primary'}`;
  if (is_replica === 1 && writesLedger(mode))
    return fail('server', message, 'point COLIBRI_DATABASE_URL at the primary, or set COLIBRI_MODE=READONLY');
  if (major < OLDEST_MAJOR) return warn('server', message, `use PostgreSQL ${OLDEST_MAJOR} or later`);
  return ok('server', message);
}

function checkRole({ role, may_append, may_rewrite, unwritable }: ServerFacts, { mode }: Config): Finding {
  if (unwritable !== null && writesLedger(mode)) {
    const what = may_append === 1 ? unwritable : 'the ledger';
    return fail('role', `${role} may not write ${what}`, `${GRANTS}, or set COLIBRI_MODE=READONLY`);
  }
  if (may_rewrite === 1)
    return warn('role', `${role} may change and delete entries`, `use a role that cannot; ${GRANTS}`);
  if (may_append === null) return ok('role', role);
  return ok('role', may_append === 1 ? `${role} may add entries but not change them` : `${role} may only read`);
}

const GRANTS = 'run the grants of docs/postgres.md';

async function checkDurability(database: Database): Promise<Finding> {
  const { level, weakness } = await database.durability();
  if (weakness === undefined) return ok('durability', level);
  return warn('durability', weakness, 'enable it in the configuration of the server or for the role');
}

export function checkEncryption({ is_encrypted, is_local }: Pick<ServerFacts, 'is_encrypted' | 'is_local'>): Finding {
  if (is_encrypted === 1) return ok('encryption', 'TLS');
  if (is_local === 1) return ok('encryption', 'none; the connection does not leave this machine');
  const message = 'the connection crosses the network unencrypted';
  return warn('encryption', message, 'add sslmode=verify-full to COLIBRI_DATABASE_URL');
}

/** Does not see servers that have been idle for a minute: they release their connection. */
export function checkConnections({
  servers,
  connections,
  max_connections,
}: Pick<ServerFacts, 'servers' | 'connections' | 'max_connections'>): Finding {
  const message = `${connections} of ${max_connections} in use, ${servers} of them by other Colibri processes`;
  return max_connections - connections < FEW_CONNECTIONS
    ? warn('connections', message, 'raise max_connections: every running server keeps one connection')
    : ok('connections', message);
}
