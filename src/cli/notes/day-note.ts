import type { Reader } from '../../db/database.ts';
import { plural } from '../views/terminal.ts';
import { type DayEvent, readDayEvents } from './day-events.ts';
import { agentLink, agentLinks, clock, dayLink, listItems, section, sessionLink, taskLink } from './links.ts';
import type { DayRange } from './log-summary.ts';
import { dayPath } from './vault/file-names.ts';
import { excerpt, type Markdown, md } from './vault/markdown.ts';
import type { Note } from './vault/note-file.ts';

const MAX_LENGTH = 120;
/** A note of one day stays readable; the notes of the tasks have the rest. */
const MAX_DECISIONS = 1000;

/** What happened on one day. Titles are those of that time, so that a day that is over does not change. */
interface Day {
  readonly tasks: Map<number, { title: string; readonly states: string[] }>;
  readonly decisions: Markdown[];
  readonly sessions: Markdown[];
  readonly agents: Set<string>;
  actions: number;
  commits: number;
}

export async function readDayNote(
  db: Reader,
  day: string,
  range: DayRange,
  previous: string | undefined,
): Promise<Note> {
  const found: Day = { tasks: new Map(), decisions: [], sessions: [], agents: new Set(), actions: 0, commits: 0 };
  for await (const event of readDayEvents(db, range)) if (event.at.startsWith(day)) add(found, event);
  return { path: dayPath(day), properties: { note: 'day', date: day }, body: render(day, found, previous) };
}

function add(day: Day, event: DayEvent): void {
  const { at, actor } = event;
  switch (event.kind) {
    case 'action':
      day.actions += 1;
      return;
    case 'commit':
      day.commits += 1;
      return;
    case 'task':
      addTask(day, event);
      break;
    case 'session':
      day.sessions.push(md`${clock(at)} ${sessionLink(event.session_no)} ${event.what} by ${agentLink(actor)}`);
      break;
    case 'decision': {
      const text = excerpt(event.content, MAX_LENGTH);
      day.decisions.push(md`${clock(at)} ${taskLink(event.task_no)} ${event.type} by ${agentLink(actor)}: ${text}`);
    }
  }
  day.agents.add(actor);
}

function addTask({ tasks }: Day, { task_no, title, status }: DayEvent & { kind: 'task' }): void {
  const known = tasks.get(task_no);
  if (known === undefined) {
    tasks.set(task_no, { title, states: [status] });
    return;
  }
  known.title = title;
  if (known.states.at(-1) !== status) known.states.push(status);
}

function render(day: string, found: Day, previous: string | undefined): Markdown[] {
  const { tasks, decisions, sessions, agents, actions, commits } = found;
  const counts = [
    plural(tasks.size, 'task'),
    plural(decisions.length, 'decision'),
    plural(actions, 'observed action'),
    plural(commits, 'commit'),
  ].join(', ');
  const taskItems = [...tasks].map(
    ([taskNo, { title, states }]) => md`${taskLink(taskNo)} ${title}: ${states.join(' → ')}`,
  );
  const cut = decisions.length - MAX_DECISIONS;
  return [
    md`# ${day}`,
    md`${counts}. Times are in UTC.${previous === undefined ? '' : md` The day before: ${dayLink(previous)}.`}`,
    ...section('Tasks', taskItems.length === 0 ? [] : [listItems(taskItems)]),
    ...section('Decisions', [
      ...(cut > 0 ? [md`${plural(cut, 'earlier decision')}.`] : []),
      ...(decisions.length === 0 ? [] : [listItems(decisions.slice(-MAX_DECISIONS))]),
    ]),
    ...section('Sessions', sessions.length === 0 ? [] : [listItems(sessions)]),
    ...section('Agents', agents.size === 0 ? [] : [agentLinks(agents)]),
  ];
}
