import type { Reader } from '../../db/database.ts';
import { readEvidence } from '../../domains/evidence/repository.ts';
import type { Task } from '../../domains/tasks/record.ts';
import { findTask, listChildren } from '../../domains/tasks/repository.ts';
import type { CutList } from '../../domains/trail/cut-list.ts';
import { listLastThoughts, type ThoughtRow } from '../../domains/trail/repository.ts';
import { formatTaskId, parseId } from '../../ids.ts';
import type { Evidence } from '../../integrity/evidence/compare.ts';
import { evidenceText } from '../../integrity/evidence/evidence-text.ts';
import { describeThought, type ShownThought } from '../views/show-data.ts';
import { plural } from '../views/terminal.ts';
import { agentLink, linkList, linkOfTask, listItems, section, sessionLink, taskLink, time } from './links.ts';
import { readTaskHistory } from './task-history.ts';
import { readTaskReports } from './task-reports.ts';
import { taskPath } from './vault/file-names.ts';
import { joinMarkdown, type Markdown, md, quote } from './vault/markdown.ts';
import type { Note } from './vault/note-file.ts';

const MAX_LINKS = 200;
/** Older decisions are counted; `colibri show` has all of them. */
const MAX_DECISIONS = 500;

/** Undefined if there is no such task. */
export async function readTaskNote(db: Reader, taskNo: number, sessions: readonly number[]): Promise<Note | undefined> {
  const task = await findTask(db, formatTaskId(taskNo));
  if (task === undefined) return undefined;
  const thoughts = await listLastThoughts(db, 'task_no', taskNo, MAX_DECISIONS);
  const { items: evidence } = thoughts.total === 0 ? { items: [] } : await readEvidence(db, taskNo);
  return {
    path: taskPath(taskNo),
    properties: propertiesOf(task),
    body: [
      md`# ${task.task_id} ${task.title}`,
      ...(task.description.trim() === '' ? [] : [quote(task.description)]),
      ...(await relationsOf(db, taskNo, sessions)),
      ...section('Decisions', decisionsOf(thoughts, evidence)),
      ...section('Observed', await readTaskReports(db, taskNo)),
      ...section('History', await readTaskHistory(db, taskNo)),
    ],
  };
}

function propertiesOf(task: Task): Note['properties'] {
  const { parent_id, holder, blocked_reason, estimate_hours } = task;
  return {
    note: 'task',
    id: task.task_id,
    title: task.title,
    aliases: [task.title],
    project: task.project,
    status: task.status,
    priority: task.priority,
    progress: task.progress,
    assignee: task.assignee,
    holder: holder === null ? undefined : agentLink(holder),
    blocked_reason,
    labels: task.labels,
    parent: parent_id === null ? undefined : linkOfTask(parent_id),
    depends_on: task.depends_on.map(linkOfTask),
    estimate_hours,
    workflow: task.workflow,
    attempt: task.attempt,
    created: task.created_at,
    created_by: agentLink(task.created_by),
    updated: task.updated_at,
    updated_by: agentLink(task.updated_by),
  };
}

async function relationsOf(db: Reader, taskNo: number, sessions: readonly number[]): Promise<Markdown[]> {
  const children = await listChildren(db, taskNo, MAX_LINKS);
  const dependents = await db.query<{ task_no: number }>(
    'SELECT task_no FROM task_dependencies WHERE depends_on = $1 ORDER BY task_no',
    [taskNo],
  );
  const lines: [label: string, links: Markdown[], total: number][] = [
    ['Children', children.items.map(linkOfTask), children.total],
    ['Awaited by', dependents.slice(0, MAX_LINKS).map(({ task_no }) => taskLink(task_no)), dependents.length],
    ['Sessions', sessions.slice(-MAX_LINKS).map(sessionLink), sessions.length],
  ];
  const items = lines
    .filter(([, , total]) => total > 0)
    .map(([label, links, total]) => md`${label}: ${linkList(links, total)}`);
  return items.length === 0 ? [] : [listItems(items)];
}

function decisionsOf({ items, total }: CutList<ThoughtRow>, evidence: readonly Evidence[]): Markdown[] {
  const cut = total - items.length;
  const earlier = cut === 0 ? [] : [md`${plural(cut, 'earlier decision')}: see \`colibri show\`.`];
  return [...earlier, ...items.flatMap((row) => decisionBlocks(describeThought(row), evidence))];
}

function decisionBlocks(thought: ShownThought, evidence: readonly Evidence[]): Markdown[] {
  const { thought_id, type, recorded_at, recorded_by, session_id, content, extras } = thought;
  const own = evidence.filter((item) => item.thought_id === thought_id);
  const compared = new Set<string>(own.map(({ field }) => field));
  const facts = [
    ...own.map(
      (item) => md`${item.field}: ${item.value} (**${item.state}**${evidenceText(item).slice(item.state.length)})`,
    ),
    ...Object.entries(extras)
      .filter(([name]) => !compared.has(name))
      .map(([name, value]) => md`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ];
  return [
    md`### ${thought_id} ${type}`,
    md`${time(recorded_at)} by ${agentLink(recorded_by)} in ${sessionLink(parseId(session_id))}`,
    quote(content),
    ...(facts.length === 0 ? [] : [joinMarkdown([listItems(facts)], '\n')]),
  ];
}
