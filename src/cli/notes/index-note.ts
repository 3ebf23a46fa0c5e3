import type { Reader } from '../../db/database.ts';
import { agentLinks } from './agent-note.ts';
import { dayLink, linkList, listItems, section } from './links.ts';
import type { LogSummary } from './log-summary.ts';
import { INDEX_NOTE } from './vault/file-names.ts';
import { md } from './vault/markdown.ts';
import type { Note } from './vault/note-file.ts';

const MAX_DAYS = 1000;

/** The note to begin with: projects, days and agents. */
export async function readIndexNote(db: Reader, { agents, days }: LogSummary): Promise<Note> {
  const counts = await db.query<{ project: string; status: string; tasks: number }>(
    'SELECT project, status, SUM(tasks) AS tasks FROM task_counts GROUP BY project, status ORDER BY project, status',
  );
  const projects = new Map<string, string[]>();
  for (const { project, status, tasks } of counts)
    if (tasks > 0) projects.set(project, [...(projects.get(project) ?? []), `${status} ${tasks.toLocaleString('en')}`]);
  const items = [...projects].map(([project, states]) => md`**${project}**: ${states.join(', ')}`);
  const newest = [...days.keys()].toSorted().reverse();
  return {
    path: INDEX_NOTE,
    properties: { note: 'index' },
    body: [
      md`# Colibri`,
      ...section('Projects', items.length === 0 ? [] : [listItems(items)]),
      ...section('Days', newest.length === 0 ? [] : [linkList(newest.slice(0, MAX_DAYS).map(dayLink), newest.length)]),
      ...section('Agents', agents.size === 0 ? [] : [agentLinks(agents.keys())]),
    ],
  };
}
