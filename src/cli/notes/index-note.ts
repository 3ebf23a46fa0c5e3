import type { Reader } from '../../db/database.ts';
import { listProjects } from '../../domains/tasks/board.ts';
import { countByStatus } from '../../domains/tasks/list-query.ts';
import { agentLinks, dayLink, linkList, listItems, section } from './links.ts';
import type { LogSummary } from './log-summary.ts';
import { INDEX_NOTE } from './vault/file-names.ts';
import { type Markdown, md } from './vault/markdown.ts';
import type { Note } from './vault/note-file.ts';

const MAX_DAYS = 1000;

/** The note to begin with: projects, days and agents. */
export async function readIndexNote(db: Reader, { agents, days }: LogSummary): Promise<Note> {
  const items: Markdown[] = [];
  for (const project of await listProjects(db)) {
    const counts = describeCounts(await countByStatus(db, { project }));
    if (counts !== '') items.push(md`**${project}**: ${counts}`);
  }
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

/** "done 3, in_progress 1" */
function describeCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${status} ${count.toLocaleString('en')}`)
    .toSorted()
    .join(', ');
}
