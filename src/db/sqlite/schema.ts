import { parseJson } from '../../integrity/parse-json.ts';
import type { Reader } from '../database.ts';
import { MIGRATIONS } from '../migrate.ts';
import { loadSqlite } from './driver.ts';
import { SQLITE_SCHEMA } from './stored-schema.ts';

/** A row of sqlite_schema. */
export interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly table: string;
  readonly sql: string;
  /** Every byte of the four texts, and their storage classes. */
  readonly bytes: string;
  readonly rootPage: string;
}

export interface SqliteSchema {
  readonly objects: readonly SchemaObject[];
  /** By table or view: columns, indexes and foreign keys as SQLite itself understands them. */
  readonly behavior: ReadonlyMap<string, string>;
}

/** As bytes, because a driver may cut a text at a NUL and replaces invalid UTF-8. */
const OBJECTS = `SELECT hex(type) AS type, hex(name) AS name, hex(tbl_name) AS tbl_name, hex(sql) AS sql,
    typeof(type) || ' ' || typeof(name) || ' ' || typeof(tbl_name) || ' ' || typeof(sql) AS classes,
    quote(rootpage) AS root_page
  FROM sqlite_schema ORDER BY rowid`;

interface ObjectRow {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string;
  readonly classes: string;
  readonly root_page: string;
}

/** Reads only sqlite_schema, so nothing that the file defines can run. */
export async function listSchemaObjects(reader: Reader): Promise<SchemaObject[]> {
  return (await reader.query<ObjectRow>(OBJECTS)).map((row) => ({
    type: fromHex(row.type),
    name: fromHex(row.name),
    table: fromHex(row.tbl_name),
    sql: fromHex(row.sql),
    bytes: [row.type, row.name, row.tbl_name, row.sql, row.classes].join(' '),
    rootPage: row.root_page,
  }));
}

function fromHex(bytes: string): string {
  return Buffer.from(bytes, 'hex').toString();
}

/** SQLite reports the search index's inner tables as `shadow` only after the connection has used the index. */
const BEHAVIOR = `SELECT t.name AS name, json_array(
    CASE t.type WHEN 'shadow' THEN 'table' ELSE t.type END, t.wr, t.strict,
    (SELECT json_group_array(json_array(c.cid, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden))
       FROM pragma_table_xinfo(t.name) AS c),
    (SELECT json_group_array(i.text) FROM (
       SELECT json_array(l.name, l."unique", l.origin, l.partial,
           (SELECT json_group_array(json_array(x.seqno, x.cid, x.name, x."desc", x.coll, x."key"))
              FROM pragma_index_xinfo(l.name) AS x)) AS text
         FROM pragma_index_list(t.name) AS l ORDER BY l.name) AS i),
    (SELECT json_group_array(json_array(f.id, f.seq, f."table", f."from", f."to", f.on_update, f.on_delete, f."match"))
       FROM pragma_foreign_key_list(t.name) AS f)) AS text
  FROM pragma_table_list AS t WHERE t.schema = 'main' AND t.type <> 'virtual' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/** Call it only after the objects were checked: a table that is named like a pragma would be read instead. */
export async function readBehavior(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.query<{ name: string; text: string }>(BEHAVIOR);
  return new Map(rows.map(({ name, text }) => [name, text]));
}

let stored: SqliteSchema | undefined;

/**
 * What the migrations create, as it was stored. To read it takes a fraction of the time that `referenceSchema` takes,
 * which decides about every file that differs: the library that reads the ledger may describe the same tables
 * otherwise. Undefined in programs that the build leaves it out of.
 */
export function storedSchema(): SqliteSchema | undefined {
  if (SQLITE_SCHEMA !== '') stored ??= readStored();
  return stored;
}

/** Parses and converts all lines at once, because a hook does it with code that V8 has not optimized. */
function readStored(): SqliteSchema {
  const lines = SQLITE_SCHEMA.trim().split('\n');
  const rows = parseJson(`[${lines.join(',')}]`) as (StoredObject | StoredBehavior)[];
  const objects = rows.filter(isStoredObject);
  const hex = Buffer.from(objects.flat().join('')).toString('hex').toUpperCase();
  let at = 0;
  // The schema is ASCII: one character has two digits.
  const nextHex = (text: string) => {
    at += text.length * 2;
    return hex.slice(at - text.length * 2, at);
  };
  return {
    objects: objects.map(([type, name, table, sql]) => {
      const texts = [type, name, table, sql ?? ''].map(nextHex);
      const bytes = [...texts, `text text text ${sql === null ? 'null' : 'text'}`].join(' ');
      return { type, name, table, sql: sql ?? '', bytes, rootPage: '' };
    }),
    behavior: new Map(rows.filter((row) => !isStoredObject(row))),
  };
}

/** Returns the lines of stored-schema.ts. */
export function renderSchema({ objects, behavior }: SqliteSchema): string[] {
  const stored = objects.map(({ type, name, table, sql, bytes }): StoredObject => {
    return [type, name, table, bytes.endsWith(' null') ? null : sql];
  });
  return [...stored, ...behavior].map((row) => JSON.stringify(row));
}

type StoredObject = readonly [type: string, name: string, table: string, sql: string | null];
type StoredBehavior = readonly [name: string, text: string];

function isStoredObject(row: StoredObject | StoredBehavior): row is StoredObject {
  return row.length === 4;
}

const references = new Map<number, Promise<SqliteSchema>>();

/** What the migrations up to this version create, built in memory with the library that reads the ledger. */
export function referenceSchema(version: number): Promise<SqliteSchema> {
  const known = references.get(version);
  if (known !== undefined) return known;
  const reference = buildReference(version);
  references.set(version, reference);
  return reference;
}

async function buildReference(version: number): Promise<SqliteSchema> {
  const driver = (await loadSqlite()).open(':memory:', { readOnly: false });
  try {
    for (const migration of MIGRATIONS.slice(0, version)) driver.exec(migration.sqlite);
    const query = async <Shape>(sql: string) => driver.prepare(sql).all([]) as Shape[];
    const reader: Reader = { engine: 'sqlite', query, queryStored: query };
    return { objects: await listSchemaObjects(reader), behavior: await readBehavior(reader) };
  } finally {
    driver.close();
  }
}
