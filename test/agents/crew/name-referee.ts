import type { Reader } from '../../../src/db/database.ts';

interface ProcessRow {
  readonly process_id: string;
  readonly actor: string;
  readonly first: number;
  readonly last: number;
}

/** Checks from the log alone that each process has one name, and no two that call in turns have the same. */
export async function judgeNames(db: Reader): Promise<string[]> {
  const rows = await db.query<ProcessRow>(
    `SELECT process_id, actor, MIN(sequence_no) AS first, MAX(sequence_no) AS last
     FROM calls GROUP BY process_id, actor ORDER BY MIN(sequence_no)`,
  );
  return rows.flatMap((row, place) =>
    rows.slice(place + 1).flatMap((later) => {
      if (later.process_id === row.process_id) return [`a process was ${row.actor}, then ${later.actor}`];
      return later.actor === row.actor && later.first < row.last ? [`two processes at once were ${row.actor}`] : [];
    }),
  );
}
