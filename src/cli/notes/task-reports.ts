import type { Reader } from '../../db/database.ts';
import { countObservations, listLastObservations } from '../../domains/evidence/observations.ts';
import { outcomeText } from '../timeline/event-parts.ts';
import type { CommitEvent, ObservedEvent } from '../timeline/events.ts';
import { describeObservation } from '../timeline/read-events.ts';
import { plural } from '../views/terminal.ts';
import { listItems, time } from './links.ts';
import { excerpt, type Markdown, md } from './vault/markdown.ts';

/** Older reports are counted; `colibri timeline` has all of them. */
const MAX_REPORTS = 100;
const MAX_LENGTH = 200;
const SHORT_SHA = 12;

/** What the hooks of clients and of git reported about a task. */
export async function readTaskReports(db: Reader, taskNo: number): Promise<Markdown[]> {
  const total = await countObservations(db, taskNo);
  if (total === 0) return [];
  const rows = await listLastObservations(db, taskNo, MAX_REPORTS);
  const items = rows.flatMap((row) => {
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
