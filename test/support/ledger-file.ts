import { join } from 'node:path';
import { queryFile } from './database.ts';

/** Where a server started in this folder keeps its ledger. */
export function ledgerIn(folder: string): string {
  return join(folder, '.colibri', 'colibri.db');
}

export interface CallRow {
  readonly sequence_no: number;
  readonly tool: string;
  readonly actor: string;
  readonly process_id: string;
  readonly outcome: string | null;
}

export function listCalls(path: string): Promise<CallRow[]> {
  return queryFile(path, 'SELECT sequence_no, tool, actor, process_id, outcome FROM calls ORDER BY sequence_no');
}

export async function countKind(path: string, kind: string): Promise<number> {
  const [row] = await queryFile<{ n: number }>(path, `SELECT COUNT(*) AS n FROM ledger_entries WHERE kind = '${kind}'`);
  return row?.n ?? 0;
}

/** Comes back when the condition holds; the test's own time limit is the only clock. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}
