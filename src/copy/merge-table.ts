import { DatabaseError, type Reader, type Row, type SqlValue, type Transaction } from '../db/database.ts';
import { isAfter } from '../ledger/cursor.ts';
import { deleteRow, upsertRows, valuesOf } from './rows.ts';

const PAGE = 500;

export interface Table {
  readonly table: string;
  readonly key: readonly string[];
}

/** Runs work in a transaction on the target: one of its own for each page, or one for everything. */
export type Write = (work: (transaction: Transaction) => Promise<void>) => Promise<void>;

/** `before` is undefined for a row that is new to the target. */
export type OnWritten = (transaction: Transaction, row: Row, before: Row | undefined) => void;

/**
 * Brings a table to the state of the source, and touches only the rows that differ. Both sides are read once, in the
 * order of the key; an older row is therefore changed before a newer one that a unique index would not allow beside it.
 */
export async function mergeTable(
  source: Reader,
  write: Write,
  { table, key }: Table,
  onWritten: OnWritten = () => undefined,
): Promise<void> {
  let after: readonly SqlValue[] | undefined;
  for (;;) {
    const rows = await listRows(source, { table, key }, { after, limit: PAGE });
    const upTo = rows.length < PAGE ? undefined : valuesOf(rows.at(-1) as Row, key);
    const range = { after, upTo };
    await write(async (target) => {
      const present = await listRows(target, { table, key }, range);
      writeDifferences(target, { table, key }, { rows, present, onWritten });
    });
    if (upTo === undefined) return;
    if (after !== undefined && !isAfter(upTo, after))
      throw new DatabaseError('corrupt', `the source has keys in ${table} that cannot be put in order`, {
        advice: 'run colibri verify',
      });
    after = upTo;
  }
}

interface Range {
  readonly after?: readonly SqlValue[] | undefined;
  readonly upTo?: readonly SqlValue[] | undefined;
  readonly limit?: number;
}

export function listRows(reader: Reader, { table, key }: Table, { after, upTo, limit }: Range): Promise<Row[]> {
  const columns = key.join(', ');
  const parameters: SqlValue[] = [];
  const add = (values: readonly SqlValue[]) => values.map((value) => `$${parameters.push(value)}`).join(', ');
  const conditions = [
    ...(after === undefined ? [] : [`(${columns}) > (${add(after)})`]),
    ...(upTo === undefined ? [] : [`(${columns}) <= (${add(upTo)})`]),
  ];
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const end = limit === undefined ? '' : ` LIMIT ${add([limit])}`;
  return reader.query(`SELECT * FROM ${table}${where} ORDER BY ${columns}${end}`, parameters);
}

interface Difference {
  readonly rows: readonly Row[];
  readonly present: readonly Row[];
  readonly onWritten: OnWritten;
}

function writeDifferences(target: Transaction, { table, key }: Table, { rows, present, onWritten }: Difference): void {
  const nameOf = (row: Row) => JSON.stringify(valuesOf(row, key));
  const old = new Map(present.map((row) => [nameOf(row), row]));
  const written = rows.filter((row) => !isEqual(row, old.get(nameOf(row))));
  const kept = new Set(rows.map(nameOf));
  for (const [name, row] of old) if (!kept.has(name)) deleteRow(target, table, key, row);
  upsertRows(target, table, key, written);
  for (const row of written) onWritten(target, row, old.get(nameOf(row)));
}

function isEqual(row: Row, other: Row | undefined): boolean {
  return other !== undefined && Object.entries(row).every(([name, value]) => Object.is(value, other[name]));
}
