import type { Reader } from '../../db/database.ts';
import type { Task } from '../../domains/tasks/record.ts';
import { currentVersion, listCurrentRows, type StoredVersion } from '../../domains/tasks/versions.ts';
import type { CutList } from '../../domains/trail/cut-list.ts';
import { type Entry, parseEntry } from '../../integrity/index.ts';
import { changesBetween, parseContent } from '../../verification/task-history.ts';
import { eventText } from '../views/show.ts';
import { plural } from '../views/terminal.ts';
import { agentLink, listItems, time } from './links.ts';
import { type Markdown, md } from './vault/markdown.ts';

const MAX_CHANGES = 200;

/** The last changes of a task, oldest first. Verification checks them; a note only shows them. */
export async function readTaskHistory(db: Reader, taskNo: number): Promise<Markdown[]> {
  const { items: earlier, total } = await listLastVersions(db, taskNo);
  const current = (await listCurrentRows(db, [taskNo])).slice(0, 1).map(currentVersion);
  const versions = [...earlier, ...current];
  const entries = await readEntries(
    db,
    versions.map(({ idx }) => idx),
  );
  // The first version of a cut list is only compared with.
  const isCut = total > earlier.length;
  let before: Partial<Task> | undefined;
  const items: Markdown[] = [];
  for (const [place, { idx, content }] of versions.entries()) {
    const after = parseContent(content ?? '');
    const entry = entries.get(idx);
    if (entry !== undefined && !(isCut && place === 0)) items.push(describeChange(entry, before, after));
    before = after;
  }
  const cut = total + current.length - items.length;
  return [...(isCut ? [md`${plural(cut, 'earlier change')}: see \`colibri show\`.`] : []), listItems(items)];
}

/** The last versions before the current one, oldest first. */
async function listLastVersions(db: Reader, taskNo: number): Promise<CutList<StoredVersion>> {
  const rows = await db.query<StoredVersion>(
    'SELECT * FROM task_versions WHERE task_no = $1 ORDER BY idx DESC LIMIT $2',
    [taskNo, MAX_CHANGES],
  );
  const items = rows.reverse();
  if (items.length < MAX_CHANGES) return { items, total: items.length };
  const [all] = await db.query<{ total: number }>('SELECT COUNT(*) AS total FROM task_versions WHERE task_no = $1', [
    taskNo,
  ]);
  return { items, total: all?.total ?? items.length };
}

function describeChange({ kind, at, actor }: Entry, before: Partial<Task> | undefined, after: Partial<Task>): Markdown {
  const changes = before === undefined ? [] : changesBetween(before, after);
  const text = eventText({ kind, status: after.status ?? 'unknown', changes });
  return md`${time(at)} ${agentLink(actor)}: ${text}`;
}

async function readEntries(db: Reader, indexes: readonly number[]): Promise<Map<number, Entry>> {
  if (indexes.length === 0) return new Map();
  const places = indexes.map((_, place) => `$${place + 1}`).join(', ');
  const rows = await db.query<{ idx: number; entry: string }>(
    `SELECT idx, entry FROM ledger_entries WHERE idx IN (${places})`,
    indexes,
  );
  return new Map(
    rows.flatMap(({ idx, entry }) => {
      const parsed = parseEntry(entry);
      return parsed === undefined ? [] : [[idx, parsed] as const];
    }),
  );
}
