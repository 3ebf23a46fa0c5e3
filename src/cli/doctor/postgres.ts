import type { Config } from '../../config.ts';
import type { Database, Reader } from '../../db/database.ts';
import { assertKnown, SCHEMA_VERSION } from '../../db/migrate.ts';
import { openDatabase } from '../../db/open.ts';
import { toError } from '../../errors.ts';
import { readHead } from '../../ledger/head.ts';
import { openLedgerReadOnly } from '../../ledger/open.ts';
import { writesLedger } from '../../modes.ts';
import { type Finding, fail, failFrom, ok, UNFINISHED_ADVICE, warn } from './finding.ts';

/** The oldest that the tests were run with. */
const OLDEST_MAJOR = 14;
/** Fewer free connections than this and the next agents may find none. */
const FEW_CONNECTIONS = 10;

/** What there is to say about a database server instead of a file; reads only, as one who may not write. */
export async function checkPostgres(config: Config): Promise<Finding[]> {
  if (config.mode === 'MINIMAL') return [ok('ledger', 'none is opened in mode MINIMAL')];
  let database: Database | undefined;
  try {
    database = await openDatabase({ ...config, readOnly: true });
    const facts = await database.read(readServer);
    return [
      await checkContents(database, facts),
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
  /** Null where there is no ledger yet. */
  readonly may_append: number | null;
  readonly may_rewrite: number | null;
  readonly is_encrypted: number;
  readonly is_local: number;
  readonly servers: number;
  readonly connections: number;
  readonly max_connections: number;
}

/** Nothing here needs more than the right to connect. */
async function readServer(reader: Reader): Promise<ServerFacts> {
  const [facts] = await reader.query<ServerFacts>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
       current_setting('server_version_num')::int / 10000 AS major,
       pg_is_in_recovery() AS is_replica,
       current_user AS role,
       has_schema_privilege(current_schema(), 'CREATE') AS may_create,
       has_table_privilege(to_regclass('ledger_entries'), 'INSERT') AS may_append,
       has_table_privilege(to_regclass('ledger_entries'), 'UPDATE, DELETE, TRUNCATE') AS may_rewrite,
       (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS is_encrypted,
       COALESCE(inet_client_addr() <<= '127.0.0.0/8' OR inet_client_addr() = '::1', TRUE) AS is_local,
       (SELECT COUNT(*) FROM pg_stat_activity
        WHERE application_name = 'colibri' AND datname = current_database() AND pid <> pg_backend_pid()) AS servers,
       (SELECT SUM(numbackends) FROM pg_stat_database) AS connections,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         AS max_connections`,
  );
  if (facts === undefined) throw new Error('the server said nothing');
  return facts;
}

async function checkContents(database: Database, { may_create, role }: ServerFacts): Promise<Finding> {
  const { location } = database;
  try {
    const version = assertKnown(location, await database.schemaVersion());
    if (version < 0) return fail('ledger', `${location} is a copy that is not finished`, UNFINISHED_ADVICE);
    if (version < SCHEMA_VERSION) {
      const says = version === 0 ? `there is none yet in ${location}` : `${location} has schema ${version}`;
      return may_create === 1
        ? warn('ledger', says, `the next start of the server brings it to schema ${SCHEMA_VERSION}`)
        : fail('ledger', `${says}, and ${role} may not create tables`, 'start a server once as the owner');
    }
    await openLedgerReadOnly(database);
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
  const says = `PostgreSQL ${version}, ${is_replica === 1 ? 'a read-only replica' : 'a primary'}`;
  if (is_replica === 1 && writesLedger(mode))
    return fail('server', says, 'point COLIBRI_DATABASE_URL at the primary, or use COLIBRI_MODE=READONLY');
  if (major < OLDEST_MAJOR) return warn('server', says, `use PostgreSQL ${OLDEST_MAJOR} or later`);
  return ok('server', says);
}

function checkRole({ role, may_append, may_rewrite }: ServerFacts, { mode }: Config): Finding {
  if (may_append === 0 && writesLedger(mode))
    return fail('role', `${role} may not write the ledger`, `${GRANTS}; or use COLIBRI_MODE=READONLY`);
  if (may_rewrite === 1)
    return warn('role', `${role} may change and delete entries of the ledger`, `use a role that cannot: ${GRANTS}`);
  if (may_append === null) return ok('role', role);
  return ok('role', may_append === 1 ? `${role} may add entries, and not change them` : `${role} may only read`);
}

const GRANTS = 'docs/postgres.md has the script of grants';

async function checkDurability(database: Database): Promise<Finding> {
  const { level, weakness } = await database.durability();
  if (weakness === undefined) return ok('durability', level);
  return warn('durability', weakness, 'turn it on in the configuration of the server, or for the role');
}

export function checkEncryption({ is_encrypted, is_local }: Pick<ServerFacts, 'is_encrypted' | 'is_local'>): Finding {
  if (is_encrypted === 1) return ok('encryption', 'TLS');
  if (is_local === 1) return ok('encryption', 'none, and the connection does not leave this machine');
  const says = 'the connection goes over the network in the clear';
  return warn('encryption', says, 'add sslmode=verify-full to COLIBRI_DATABASE_URL');
}

/** A server that nobody calls for a minute gives its connection back, and is not seen here. */
export function checkConnections({
  servers,
  connections,
  max_connections,
}: Pick<ServerFacts, 'servers' | 'connections' | 'max_connections'>): Finding {
  const says = `${servers} of other Colibri processes; ${connections} of ${max_connections} are taken`;
  return max_connections - connections < FEW_CONNECTIONS
    ? warn('connections', says, 'raise max_connections, or put a pooler in session mode before the server')
    : ok('connections', says);
}
