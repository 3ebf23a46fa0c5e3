import type { Database, Reader, Row, Transaction } from '../db/database.ts';
import { type TaskRow, taskFields } from '../domains/tasks/record.ts';
import { addWords, changeWords, indexPending } from '../domains/tasks/search.ts';
import { type LedgerHead, readHead } from '../ledger/head.ts';
import { mergeTable, type OnWritten, type Write } from './merge-table.ts';
import { closeCalls, PAGE, readPage, writePage } from './pages.ts';
import { BY_KEY, HEAD, PRESENCE } from './tables.ts';
import { assertUntouched } from './target.ts';

type Progress = (done: number, total: number) => void;
type Source = Pick<Database, 'read'>;

/**
 * Brings the target to one moment of the source, and returns the head of that moment. The target has been marked, and
 * its first `size` entries are the source's. A copy blocks no writer: it reads the source in snapshots.
 */
export async function synchronize(
  source: Source,
  target: Database,
  size: number,
  progress: Progress,
): Promise<LedgerHead> {
  const reached = await copyPages(source, target, size, progress);
  await copyTables(source, target, reached);
  return target.write({ durable: true }, async (transaction) => {
    await assertUntouched(target, transaction, reached);
    return source.read((reader) => completeTo(reader, transaction, reached, progress));
  });
}

/** Commits page by page until the copy has nearly caught up, so that an interrupted copy can resume. */
async function copyPages(source: Source, target: Database, size: number, progress: Progress): Promise<number> {
  for (let reached = size; ; ) {
    const begin = reached;
    const page = await source.read((reader) => readPage(reader, begin));
    if (page.size - begin < PAGE) return reached;
    await target.write({ durable: false }, async (transaction) => {
      await assertUntouched(target, transaction, begin);
      writePage(transaction, page);
    });
    reached = page.end;
    progress(reached, page.size);
  }
}

/** The same for the other tables; rows that change during the copy are updated at the end. */
async function copyTables(source: Source, target: Database, reached: number): Promise<void> {
  const write: Write = (work) =>
    target.write({ durable: false }, async (transaction) => {
      await assertUntouched(target, transaction, reached);
      await work(transaction);
    });
  await source.read((reader) => mergeTables(reader, write));
}

/** All tables of one moment, in one transaction; the head comes last. */
async function completeTo(
  source: Reader,
  target: Transaction,
  reached: number,
  progress: Progress,
): Promise<LedgerHead> {
  for (let begin = reached; ; ) {
    const page = await readPage(source, begin);
    writePage(target, page);
    progress(page.end, page.size);
    if (page.end === page.size) break;
    begin = page.end;
  }
  await closeCalls(source, target);
  const write: Write = (work) => work(target);
  await mergeTable(source, write, PRESENCE);
  await mergeTables(source, write);
  await mergeTable(source, write, HEAD);
  return readHead(source);
}

async function mergeTables(source: Reader, write: Write): Promise<void> {
  for (const [table, key] of Object.entries(BY_KEY))
    await mergeTable(source, write, { table, key }, table === 'tasks' ? indexTask : undefined);
  const words = { arePending: true };
  while (words.arePending)
    await write(async (target) => {
      words.arePending = await indexPending(target);
    });
}

/** The words of a task are not copied: each engine has its own index of them. */
const indexTask: OnWritten = (target, row, before) => {
  const task = taskFields.fromRow(row as Row & TaskRow);
  if (before === undefined) addWords(target, task);
  else if (row['title'] !== before['title'] || row['description'] !== before['description']) changeWords(target, task);
};
