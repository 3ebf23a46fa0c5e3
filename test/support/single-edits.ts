import type { RawFile } from './trail-raw-file.ts';

/** One column of one row. */
export interface Cell {
  readonly table: string;
  readonly column: string;
  /** SQL that finds the row. */
  readonly where: string;
  readonly keys: readonly string[];
  /** The value as an SQL literal. */
  readonly literal: string;
  readonly type: string;
  readonly hex: string;
}

/** What somebody can put in place of a value, by its storage class; `~` stands for the value. */
const EDITS: Readonly<Record<string, readonly string[]>> = {
  integer: [
    '~ + 1',
    '~ - 1',
    '-~ - 1',
    '9223372036854775807',
    'CAST(~ AS REAL)',
    '~ + 0.5',
    'CAST(~ AS TEXT)',
    '~ || char(0)',
    'CAST(CAST(~ AS TEXT) AS BLOB)',
    "''",
    "x''",
    'NULL',
  ],
  text: [
    "~ || 'x'",
    "~ || ' '",
    '~ || char(0)',
    "~ || char(0) || 'hidden'",
    'char(0) || ~',
    "CAST(~ || x'ff' AS TEXT)",
    "CAST(~ || x'e298' AS TEXT)",
    "CAST(x'c0af' || ~ AS TEXT)",
    "CAST(~ || x'eda080' AS TEXT)",
    "'0' || substr(~, 2)",
    'upper(~)',
    'CAST(~ AS BLOB)',
    'CAST(~ AS INTEGER)',
    "''",
    "x''",
    'NULL',
  ],
  real: ['~ + 0.25', 'CAST(~ AS INTEGER)', 'CAST(~ AS TEXT)', 'CAST(CAST(~ AS TEXT) AS BLOB)', "''", 'NULL'],
  blob: ["CAST(~ || x'00' AS BLOB)", 'substr(~, 2)', 'CAST(~ AS TEXT)', "x''", '0', 'NULL'],
  null: ['0', '0.5', "''", "'x'", "x''"],
};

export function editsOf({ type }: Cell): readonly string[] {
  return EDITS[type] ?? [];
}

/** In every column, the first and the last row of each storage class. */
export function listCells(file: RawFile): Cell[] {
  const tables = file
    .prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
    )
    .all() as { name: string; sql: string }[];
  return tables.flatMap(({ name: table, sql }) => {
    const columns = file.prepare(`SELECT name, pk FROM pragma_table_info('${table}')`).all() as Column[];
    const keys = sql.includes('WITHOUT ROWID') ? columns.filter(({ pk }) => pk > 0).map(({ name }) => name) : ['rowid'];
    return columns.flatMap(({ name: column }) => cellsOf(file, table, column, keys));
  });
}

interface Column {
  readonly name: string;
  readonly pk: number;
}

function cellsOf(file: RawFile, table: string, column: string, keys: readonly string[]): Cell[] {
  const where = whereOf(keys);
  const order = keys.join(', ');
  const ends = ['', ' DESC'].flatMap((direction) =>
    ['integer', 'text', 'real', 'blob', 'null'].map(
      (type) =>
        `SELECT * FROM (SELECT ${where} AS "where", quote("${column}") AS literal, typeof("${column}") AS type, hex("${column}") AS hex
           FROM "${table}" WHERE typeof("${column}") = '${type}' ORDER BY ${order.replaceAll(',', `${direction},`)}${direction} LIMIT 1)`,
    ),
  );
  const cells = file.prepare(ends.join(' UNION ')).all() as Pick<Cell, 'where' | 'literal' | 'type' | 'hex'>[];
  return cells.map((cell) => ({ table, column, keys, ...cell }));
}

/** An expression that gives the condition by which a row is found. */
function whereOf(keys: readonly string[]): string {
  const stored = (key: string, property: string) => `'${property}(${key}) = ''' || ${property}(${key}) || ''''`;
  return keys.flatMap((key) => [stored(key, 'hex'), stored(key, 'typeof')]).join(" || ' AND ' || ");
}

/** Makes the edit and returns what undoes it; undefined when the value stays the same or the schema forbids the edit. */
export function edit(file: RawFile, cell: Cell, change: string): (() => void) | undefined {
  const { table, column, where, keys, literal, type, hex } = cell;
  const stored = `typeof("${column}") AS type, hex("${column}") AS hex`;
  const [after] = attempt(() =>
    file
      .prepare(
        `UPDATE "${table}" SET "${column}" = ${change.replaceAll('~', `"${column}"`)} WHERE ${where}
         RETURNING ${whereOf(keys)} AS "where", ${stored}`,
      )
      .all(),
  ) as { where: string; type: string; hex: string }[];
  if (after === undefined || (after.type === type && after.hex === hex)) return undefined;
  return () => {
    file.exec(`UPDATE "${table}" SET "${column}" = ${literal} WHERE ${after.where}`);
    const [now] = file.prepare(`SELECT ${stored} FROM "${table}" WHERE ${where}`).all() as Pick<Cell, 'type' | 'hex'>[];
    if (now?.type !== type || now.hex !== hex) throw new Error(`${table}.${column} was not put back`);
  };
}

function attempt(update: () => unknown[]): unknown[] {
  try {
    return update();
  } catch (error) {
    if (error instanceof Error && /constraint failed|datatype mismatch/.test(error.message)) return [];
    throw error;
  }
}
