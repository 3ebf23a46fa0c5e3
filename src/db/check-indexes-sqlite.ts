import type { Reader } from './database.ts';

export interface Damage {
  readonly table: string;
  readonly problem: string;
}

/**
 * What SQLite itself finds wrong with its tables. An index that leaves a row out hides it from who asks by that index,
 * and a row that no index has is seen by some questions and not counted by others.
 */
export async function listDamageInSqlite(reader: Reader): Promise<Damage[]> {
  const tables = await reader.query<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
  );
  const damages: Damage[] = [];
  for (const { name: table } of tables) {
    const quoted = table.replaceAll("'", "''");
    const [first] = await reader.query<{ integrity_check: string }>(`PRAGMA integrity_check('${quoted}')`);
    if (first?.integrity_check !== 'ok')
      damages.push({ table, problem: `is damaged: ${first?.integrity_check ?? 'SQLite does not say how'}` });
  }
  return damages;
}
