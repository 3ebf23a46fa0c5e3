import type { Reader } from './database.ts';
import { listDefinitions, SCHEMA_VERSION } from './migrate.ts';

/**
 * The names of tables, indexes, views and triggers in a PostgreSQL schema that the migrations did not make as they stand
 * there, or made and are gone. The texts that the server gives of its objects differ from version to version, so what
 * is compared is what they do.
 */
export async function listForeignObjectsInPostgres(reader: Reader): Promise<string[]> {
  const statements = listDefinitions('postgres');
  const relations = compare(await listRelations(reader), expectedRelations(statements));
  return [
    ...relations,
    ...(await listActors(reader)),
    ...(await listLyingViews(reader, statements)),
    ...(await checkMark(reader)),
  ];
}

/** By name: a table with its columns, an index with its columns, whether it is unique, and whether it is partial. */
type Relations = ReadonlyMap<string, string>;

function compare(actual: Relations, expected: Relations): string[] {
  const foreign = [...actual].filter(([name, text]) => expected.get(name) !== text).map(([name]) => name);
  return [...foreign, ...[...expected.keys()].filter((name) => !actual.has(name))];
}

async function listRelations(reader: Reader): Promise<Relations> {
  const tables = await reader.query<{ name: string; text: string }>(
    `SELECT relname AS name, string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) AS text
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
     WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relkind IN ('r', 'p', 'f', 'm', 'S')
       AND ${isNotOfExtension('pg_class')}
     GROUP BY relname`,
  );
  const indexes = await reader.query<{ name: string; text: string }>(
    `SELECT index.relname AS name,
            owner.relname || CASE WHEN indisunique THEN ' unique' ELSE '' END ||
            CASE WHEN indpred IS NULL THEN '' ELSE ' partial' END ||
            CASE WHEN indisvalid AND indisready THEN '' ELSE ' invalid' END AS text
     FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid JOIN pg_class AS owner ON owner.oid = indrelid
     WHERE index.relnamespace = to_regnamespace(quote_ident(current_schema()))
       AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)`,
  );
  return new Map([...tables, ...indexes].map(({ name, text }) => [name, text]));
}

const TYPES: Readonly<Record<string, string>> = {
  TEXT: 'text',
  BIGINT: 'bigint',
  INTEGER: 'integer',
  DOUBLE: 'double precision',
  TSVECTOR: 'tsvector',
};

/** The table that the adapter makes itself. */
const MARK: readonly [string, string] = ['colibri', 'id integer, schema_version integer'];

function expectedRelations(statements: readonly string[]): Relations {
  const relations = new Map([MARK]);
  for (const statement of statements) {
    const [, table, body] = /^CREATE TABLE (\w+) \((.*)\)$/s.exec(statement) ?? [];
    if (table !== undefined && body !== undefined) relations.set(table, columnsOf(body));
    const [, unique, index, owner] = /^CREATE (UNIQUE )?INDEX (\w+) ON (\w+)/.exec(statement) ?? [];
    if (index !== undefined) {
      const isPartial = / WHERE /.test(statement);
      relations.set(index, `${owner}${unique === undefined ? '' : ' unique'}${isPartial ? ' partial' : ''}`);
    }
  }
  return relations;
}

/** Each stands on a line of its own and has a name in small letters. */
function columnsOf(body: string): string {
  return [...body.matchAll(/^\s*([a-z_]+)\s+([A-Z]+)/gm)]
    .map(([, name, type = '']) => `${name} ${TYPES[type]}`)
    .join(', ');
}

/** What an administrator installs beside the ledger, such as pg_stat_statements, is nobody's forgery. */
function isNotOfExtension(catalogue: 'pg_class' | 'pg_proc'): string {
  return `NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = '${catalogue}'::regclass AND objid = ${catalogue}.oid AND deptype = 'e')`;
}

/** What acts without being called: there is nothing of the kind in a ledger. */
async function listActors(reader: Reader): Promise<string[]> {
  const rows = await reader.query<{ name: string }>(
    `SELECT tgname AS name FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
       WHERE NOT tgisinternal AND relnamespace = to_regnamespace(quote_ident(current_schema()))
     UNION ALL
     SELECT rulename FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class
       WHERE rulename <> '_RETURN' AND relnamespace = to_regnamespace(quote_ident(current_schema()))
     UNION ALL
     SELECT relname || ' (row security)' FROM pg_class
       WHERE relrowsecurity AND relnamespace = to_regnamespace(quote_ident(current_schema()))
     UNION ALL
     SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace(quote_ident(current_schema()))
       AND ${isNotOfExtension('pg_proc')}`,
  );
  return rows.map(({ name }) => name);
}

/** The server plans a view as the query that it stands for, so that the plans tell whether it still does. */
async function listLyingViews(reader: Reader, statements: readonly string[]): Promise<string[]> {
  const expected = new Map<string, string>();
  for (const statement of statements) {
    const [, name, query] = /^CREATE VIEW (\w+) AS\s+(.*)$/s.exec(statement) ?? [];
    if (name !== undefined && query !== undefined) expected.set(name, query);
  }
  const present = await reader.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'v'
       AND relnamespace = to_regnamespace(quote_ident(current_schema())) AND ${isNotOfExtension('pg_class')}`,
  );
  const names = new Set(present.map(({ name }) => name));
  const lying = [...names].filter((name) => !expected.has(name));
  for (const [name, query] of expected)
    if (!names.has(name) || !(await isPlannedAs(reader, name, query))) lying.push(name);
  return lying;
}

const MAX_LOOKS = 5;

/** The server may count its rows anew between two questions and plan the second one otherwise; soon it does not. */
async function isPlannedAs(reader: Reader, view: string, query: string): Promise<boolean> {
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const actual = await planOf(reader, `SELECT * FROM ${view}`);
    if (actual === (await planOf(reader, `SELECT * FROM (${query}) AS ${view}`))) return true;
  }
  return false;
}

async function planOf(reader: Reader, query: string): Promise<string> {
  return JSON.stringify(await reader.query(`EXPLAIN (VERBOSE, COSTS OFF) ${query}`));
}

async function checkMark(reader: Reader): Promise<string[]> {
  const rows = await reader.query<{ id: number; schema_version: number }>('SELECT id, schema_version FROM colibri');
  const [mark] = rows;
  return rows.length === 1 && mark?.id === 1 && mark.schema_version === SCHEMA_VERSION ? [] : ['colibri'];
}
