import type { Reader } from './database.ts';
import { listDefinitions } from './migrate.ts';

/**
 * The names of tables, indexes, views and triggers in an SQLite file that the migrations did not make as they stand
 * there, or made and are gone. A changed view lies and a trigger acts without touching a row that a hash covers.
 */
export async function listForeignObjectsInSqlite(reader: Reader): Promise<string[]> {
  // Four tables of FTS5 are made by the engine, and what has no text by a constraint of a table.
  const rows = await reader.query<{ name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND NOT (type = 'table' AND name IN
       ('task_search_config', 'task_search_data', 'task_search_docsize', 'task_search_idx'))`,
  );
  const expected = new Map(listDefinitions('sqlite').map((sql) => [nameOf(sql), normalize(sql)]));
  const foreign = rows.filter(({ name, sql }) => expected.get(name) !== normalize(sql)).map(({ name }) => name);
  const present = new Set(rows.map(({ name }) => name));
  return [...foreign, ...[...expected.keys()].filter((name) => !present.has(name))];
}

function nameOf(sql: string): string {
  return /^CREATE (?:UNIQUE )?(?:VIRTUAL )?(?:TABLE|INDEX|VIEW|TRIGGER) (\w+)/.exec(sql)?.[1] ?? sql;
}

/** The engine keeps the text as it was written, line breaks included; only the space between words may differ. */
function normalize(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').trim();
}
