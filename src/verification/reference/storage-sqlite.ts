import type { Reader } from '../../db/database.ts';
import { listDefinitions } from '../../db/migrate.ts';
import type { Damage } from './indexes-sqlite.ts';

/** The storage classes that a column may have, as a list in SQL. */
type Classes = Readonly<Record<string, string>>;

/** The tables of FTS5, which the engine makes and declares without types. */
const SEARCH_TABLES: Readonly<Record<string, Classes>> = {
  task_search_config: { k: "'text'", v: "'integer'" },
  task_search_data: { id: "'integer'", block: "'blob'" },
  task_search_docsize: { id: "'integer'", sz: "'blob'", origin: "'integer'" },
  task_search_idx: { segid: "'integer'", term: "'blob'", pgno: "'integer'" },
};

/**
 * Columns with values of another storage class than they declare. SQLite stores any type anywhere: a number as REAL
 * equals its INTEGER, as BLOB or TEXT it equals nothing and hides its row from a query.
 */
export async function listMisstoredInSqlite(reader: Reader, except: ReadonlySet<string>): Promise<Damage[]> {
  const damages: Damage[] = [];
  for (const [table, classes] of Object.entries({ ...DECLARED, ...SEARCH_TABLES })) {
    if (except.has(table)) continue;
    const counts = Object.entries(classes).map(
      ([column, allowed]) => `COUNT(CASE WHEN typeof(${column}) NOT IN (${allowed}) THEN 1 END) AS ${column}`,
    );
    const [found] = await reader.query<Record<string, number>>(`SELECT ${counts.join(', ')} FROM ${table}`);
    for (const [column, count] of Object.entries(found ?? {}))
      if (count !== 0) damages.push({ place: table, problem: `stores ${count} value(s) of ${column} as another type` });
  }
  return damages;
}

const CLASS_OF: Readonly<Record<string, string>> = {
  INTEGER: "'integer'",
  BIGINT: "'integer'",
  TEXT: "'text'",
  'DOUBLE PRECISION': "'real'",
};

const COLUMN = /^ +(\w+) +(INTEGER|BIGINT|TEXT|DOUBLE PRECISION)( PRIMARY KEY| NOT NULL)?/gm;

/** By the migrations and not by the file, whose own declarations somebody may have changed. */
const DECLARED: Readonly<Record<string, Classes>> = Object.fromEntries(
  listDefinitions('sqlite').flatMap((sql) => {
    const [, table] = /^CREATE TABLE (\w+)/.exec(sql) ?? [];
    return table === undefined ? [] : [[table, classesOf(sql)]];
  }),
);

function classesOf(sql: string): Classes {
  const columns = [...sql.matchAll(COLUMN)].map(([, name = '', type = '', isRequired]) => {
    const declared = CLASS_OF[type] ?? '';
    return [name, isRequired === undefined ? `${declared}, 'null'` : declared];
  });
  return Object.fromEntries(columns) as Classes;
}
