/** Marks a statement whose texts the adapter hands out as the stored bytes. A comment, so that any server takes it. */
export const STRICT = '/* strict */ ';

/** No UTF-8 begins like this: it stands for what is stored as another type than text or whole number. */
const MISSTORED = "x'ff'";

/** The SQLite statement that returns the rows of another one with texts as bytes. Only `floats` may hold a REAL. */
export function selectBytes(sql: string, columns: readonly string[], floats: ReadonlySet<string>): string {
  const values = columns.map((name) => {
    const column = `"${name.replaceAll('"', '""')}"`;
    const real = floats.has(name) ? column : MISSTORED;
    return `CASE typeof(${column}) WHEN 'integer' THEN ${column} WHEN 'text' THEN CAST(${column} AS BLOB)
      WHEN 'real' THEN ${real} WHEN 'blob' THEN ${MISSTORED} END AS ${column}`;
  });
  return `SELECT ${values.join(', ')} FROM (${sql})`;
}
