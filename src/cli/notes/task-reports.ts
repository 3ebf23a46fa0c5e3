import type { Reader } from '../../db/database.ts';
import { outcomeText } from '../timeline/event-parts.ts';
import type { CommitEvent, ObservedEvent } from '../timeline/events.ts';
import { describeObservation, type ObservationRow } from '../timeline/read-events.ts';
import { plural } from '../views/terminal.ts';
import { listItems, time } from './links.ts';
import { excerpt, type Markdown, md } from './vault/markdown.ts';

/** Older reports are counted; `colibri timeline` has all of them. */
const MAX_REPORTS = 100;
const MAX_LENGTH = 200;
const SHORT_SHA = 12;

/** What the hooks of clients and of git reported about a task. */
export async function readTaskReports(db: Reader, taskNo: number): Promise<Markdown[]> {
  const [count] = await db.query<{ total: number }>('SELECT COUNT(*) AS total FROM observations WHERE task_no = $1', [
    taskNo,
  ]);
  const total = count?.total ?? 0;
  if (total === 0) return [];
  const rows = await db.query<ObservationRow>(
    `SELECT observations.idx, ledger_entries.entry, observations.content
     FROM observations LEFT JOIN ledger_entries ON ledger_entries.idx = observations.idx
     WHERE observations.task_no = $1 ORDER BY observations.idx DESC LIMIT $2`,
    [taskNo, MAX_REPORTS],
  );
  const items = rows.reverse().flatMap((row) => {
    const event = describeObservation(row);
    if (event.kind === 'commit') return [commitItem(event)];
    return event.kind === 'observed' && event.action !== 'read' ? [observedItem(event)] : [];
  });
  const shown = total > rows.length ? `, the last ${rows.length.toLocaleString('en')} are listed without reads` : '';
  return [
    md`${plural(total, 'report')}${shown}: see \`colibri timeline\`.`,
    ...(items.length === 0 ? [] : [listItems(items)]),
  ];
}

function observedItem(event: ObservedEvent): Markdown {
  const { at, client, agent, tool, event: name, content } = event;
  const { defect, command, path, input } = content;
  const who = agent === undefined ? client : `${client} › ${agent}`;
  const text = defect ?? command ?? path ?? input;
  const head = [who, tool ?? name, outcomeText(event)].filter((part) => part !== '').join(' ');
  return text === undefined ? md`${time(at)} ${head}` : md`${time(at)} ${head}: ${excerpt(text, MAX_LENGTH)}`;
}

function commitItem({ at, sha, branch, paths }: CommitEvent): Markdown {
  const place = branch === undefined ? '' : ` on ${branch}`;
  return md`${time(at)} commit ${sha.slice(0, SHORT_SHA)}${place}: ${excerpt(paths.join(', '), MAX_LENGTH)}`;
}
