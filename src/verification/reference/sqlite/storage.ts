import type { Reader } from '../../../db/database.ts';
import { listDefinitions } from '../../../db/migrate.ts';
import type { Report } from '../../report.ts';

/** Column name to the allowed storage classes, as a list in SQL. */
type Classes = Readonly<Record<string, string>>;

/** FTS5 declares its own tables without types. */
const SEARCH_TABLES: Readonly<Record<string, Classes>> = {
  task_search_config: { k: "'text'", v: "'integer'" },
  task_search_data: { id: "'integer'", block: "'blob'" },
  task_search_docsize: { id: "'integer'", sz: "'blob'", origin: "'integer'" },
  task_search_idx: { segid: "'integer'", term: "'blob'", pgno: "'integer'" },
};

/**
 * Reports columns with values of a storage class other than the declared one. SQLite stores any type anywhere: a number
 * as REAL equals its INTEGER, as BLOB or TEXT it equals nothing and hides its row from a query.
 */
export async function reportMisstoredInSqlite(
  reader: Reader,
  except: ReadonlySet<string>,
  report: Report,
): Promise<void> {
  for (const [table, classes] of Object.entries({ ...DECLARED, ...SEARCH_TABLES })) {
    if (except.has(table)) continue;
    const counts = Object.entries(classes).map(
      ([column, allowed]) => `COUNT(CASE WHEN typeof(${column}) NOT IN (${allowed}) THEN 1 END) AS ${column}`,
    );
    const [found] = await reader.query<Record<string, number>>(`SELECT ${counts.join(', ')} FROM ${table}`);
    for (const [column, count] of Object.entries(found ?? {}))
      if (count !== 0) report(table, `stores ${count} value(s) of ${column} as another type`);
  }
}

const CLASS_OF: Readonly<Record<string, string>> = {
  INTEGER: "'integer'",
  BIGINT: "'integer'",
  TEXT: "'text'",
  'DOUBLE PRECISION': "'real'",
};

const COLUMN = /^ +(\w+) +(INTEGER|BIGINT|TEXT|DOUBLE PRECISION)( PRIMARY KEY| NOT NULL)?/gm;

/** From the migrations: the declarations in the file may have been tampered with. */
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
