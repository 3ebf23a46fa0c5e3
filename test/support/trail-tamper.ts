import { expect } from 'vitest';
import type { Database, Transaction } from '../../src/db/database.ts';
import type { Problem } from '../../src/ledger/verify.ts';
import { verifyEverything } from '../../src/verify.ts';
import { rowByRow } from './row-by-row.ts';

/** Carries a result out of a transaction that must not be kept. */
class Undo extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super('undone on purpose');
  }
}

/** What verification says after a forger was at the file, and then puts the file back as it was. */
export async function afterTampering(
  database: Database,
  tamper: (transaction: Transaction) => Promise<void>,
): Promise<readonly Problem[]> {
  try {
    return await database.write({ durable: false }, async (transaction) => {
      if (transaction.engine === 'sqlite') await transaction.run('PRAGMA ignore_check_constraints = ON');
      await tamper(transaction);
      const { problems } = await verifyEverything(transaction);
      // Reading many rows at once is quicker and must not find less.
      expect(problems).toEqual((await verifyEverything(rowByRow(transaction))).problems);
      throw new Undo(problems);
    });
  } catch (error) {
    if (error instanceof Undo) return error.problems;
    throw error;
  }
}

export interface Column {
  readonly table: string;
  readonly column: string;
  readonly isKey: boolean;
}

interface ColumnInfo {
  readonly name: string;
  readonly pk: number;
}

/** Every column of every table, from the schema of the file: nobody has to remember a new one. */
export async function listColumns(database: Database): Promise<Column[]> {
  return database.read(async (reader) => {
    const tables = await reader.query<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
    );
    const columns: Column[] = [];
    for (const { name: table } of tables) {
      for (const { name, pk } of await reader.query<ColumnInfo>(`PRAGMA table_info('${table}')`))
        columns.push({ table, column: name, isKey: pk > 0 });
    }
    return columns;
  });
}

/** How a problem with each table is named. A table that is not here has nobody who checks it. */
export const PLACES: Readonly<Record<string, RegExp>> = {
  calls: /^(call \d+|calls)$/,
  counters: /^counter .+$/,
  ledger_entries: /^(entry \d+|ledger_entries)$/,
  ledger_head: /^(ledger_head|ledger_entries|entry \d+)$/,
  ledger_nodes: /^(node \d+\/\d+|ledger_nodes)$/,
  session_records: /^(A-\d+ record \d+|A-\d+|session_records)$/,
  sessions: /^(A-\d+|sessions)$/,
  task_counts: /^task_counts$/,
  task_dependencies: /^(T-\d+|task_dependencies)$/,
  task_events: /^(task event \d+|task_events)$/,
  task_labels: /^(T-\d+|task_labels)$/,
  task_search_config: /^task_search/,
  task_search_data: /^task_search/,
  task_search_docsize: /^task_search/,
  task_search_idx: /^task_search/,
  tasks: /^(T-\d+|tasks)$/,
  thoughts: /^(\p{L}-\d+|thoughts)$/u,
};
