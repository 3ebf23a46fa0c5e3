import type { Reader } from '../database.ts';

export interface KeyedTable {
  readonly table: string;
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
}

/** The tables of a ledger with their primary keys, without those of the search index. */
export async function listKeyedTables(reader: Reader): Promise<KeyedTable[]> {
  const columns = await reader.query<{ table: string; name: string }>(
    `SELECT m.name AS "table", c.name AS name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
     WHERE m.type = 'table' AND m.name NOT LIKE 'task_search%' AND c.pk > 0 ORDER BY m.name, c.pk`,
  );
  const tables = [...new Set(columns.map(({ table }) => table))];
  return tables.map((table) => ({
    table,
    key: columns.filter((column) => column.table === table).map(({ name }) => name),
  }));
}
