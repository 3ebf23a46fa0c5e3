import type { Row, SqlValue, Transaction } from '../db/database.ts';

/** Multi-row INSERTs cost the server less; the remainder goes row by row, which keeps the statements few. */
const ROWS_AT_ONCE = 50;

export function insertRows(transaction: Transaction, table: string, rows: readonly Row[]): void {
  send(transaction, table, rows, '');
}

/** Rows that are there already get the new values. */
export function upsertRows(
  transaction: Transaction,
  table: string,
  key: readonly string[],
  rows: readonly Row[],
): void {
  const others = Object.keys(rows[0] ?? {}).filter((name) => !key.includes(name));
  const assignments = others.map((name) => `${name} = excluded.${name}`).join(', ');
  const action = others.length === 0 ? 'NOTHING' : `UPDATE SET ${assignments}`;
  send(transaction, table, rows, ` ON CONFLICT (${key.join(', ')}) DO ${action}`);
}

/** A row that is not there stays absent. */
export function updateRow(transaction: Transaction, table: string, key: string, row: Row): void {
  const names = [key, ...Object.keys(row).filter((name) => name !== key)];
  const assignments = names.slice(1).map((name, index) => `${name} = $${index + 2}`);
  transaction.send(`UPDATE ${table} SET ${assignments.join(', ')} WHERE ${key} = $1`, valuesOf(row, names));
}

export function deleteRow(transaction: Transaction, table: string, key: readonly string[], row: Row): void {
  const condition = key.map((name, index) => `${name} = $${index + 1}`).join(' AND ');
  transaction.send(`DELETE FROM ${table} WHERE ${condition}`, valuesOf(row, key));
}

export function valuesOf(row: Row, names: readonly string[]): SqlValue[] {
  return names.map((name) => row[name] ?? null);
}

function send(transaction: Transaction, table: string, rows: readonly Row[], suffix: string): void {
  const names = Object.keys(rows[0] ?? {});
  const insert = (count: number) =>
    `INSERT INTO ${table} (${names.join(', ')}) VALUES ${places(count, names.length)}${suffix}`;
  const many = insert(ROWS_AT_ONCE);
  const one = insert(1);
  let sent = 0;
  for (; sent + ROWS_AT_ONCE <= rows.length; sent += ROWS_AT_ONCE) {
    const together = rows.slice(sent, sent + ROWS_AT_ONCE);
    transaction.send(
      many,
      together.flatMap((row) => valuesOf(row, names)),
    );
  }
  for (const row of rows.slice(sent)) transaction.send(one, valuesOf(row, names));
}

function places(rows: number, columns: number): string {
  const row = (index: number) => Array.from({ length: columns }, (_, column) => `$${index * columns + column + 1}`);
  return Array.from({ length: rows }, (_, index) => `(${row(index).join(', ')})`).join(', ');
}
