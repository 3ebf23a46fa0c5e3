import type { Reader } from '../../db/database.ts';
import { plural } from '../views/terminal.ts';
import { dayLink, linkList, listItems, MAX_LINKS, section, sessionLink, taskLink } from './links.ts';
import type { AgentSummary } from './log-summary.ts';
import { agentPath } from './vault/file-names.ts';
import { type Markdown, md } from './vault/markdown.ts';
import type { Note } from './vault/note-file.ts';

/** What an agent changed and decided. Calls that change nothing are left out, so that reading changes no note. */
export async function readAgentNote(db: Reader, name: string, agent: AgentSummary): Promise<Note> {
  const { firstSeen, lastChange, changes, decisions } = agent;
  const held = await db.query<{ task_no: number }>('SELECT task_no FROM tasks WHERE holder = $1 ORDER BY task_no', [
    name,
  ]);
  const lines: [label: string, links: readonly Markdown[]][] = [
    ['Holds', held.map(({ task_no }) => taskLink(task_no))],
    ['Worked on', [...agent.tasks].map(taskLink)],
    ['Sessions', [...agent.sessions].map(sessionLink)],
    ['Days', [...agent.days].map(dayLink)],
  ];
  const items = lines
    .filter(([, links]) => links.length > 0)
    .map(([label, links]) => md`${label}: ${lastLinks(links)}`);
  return {
    path: agentPath(name),
    properties: {
      note: 'agent',
      title: name,
      aliases: [name],
      first_seen: firstSeen,
      last_change: lastChange,
      changes,
      decisions,
    },
    body: [
      md`# ${name}`,
      md`${plural(changes, 'change')} of tasks and ${plural(decisions, 'decision')}.`,
      ...section('Work', items.length === 0 ? [] : [listItems(items)]),
    ],
  };
}

/** The newest are at the end. */
function lastLinks(links: readonly Markdown[]): Markdown {
  return linkList(links.slice(-MAX_LINKS), links.length);
}
