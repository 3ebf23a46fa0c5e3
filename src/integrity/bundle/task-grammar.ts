import { isCanonicalText } from '../canonical-text.ts';
import { PRIORITIES, WORKFLOW_STATES } from '../content-grammar.ts';
import type { Entry } from '../entry.ts';
import {
  distinctListOf,
  type Fields,
  line,
  number,
  objectDefect,
  oneOf,
  optional,
  orNull,
  projectSlug,
  prose,
  taskId,
  text,
  time,
  wholeNumber,
} from '../forms.ts';
import { parseJson } from '../parse-json.ts';

/** The content of a task. The domain derives the same from its table of fields, and a test compares the two. */
export const TASK_GRAMMAR: Fields = {
  assignee: text,
  attempt: wholeNumber(1),
  blocked_reason: orNull(line(1000)),
  created_at: time,
  created_by: text,
  depends_on: distinctListOf(taskId, 50),
  description: prose(8000),
  estimate_hours: orNull(number(0, 1000)),
  holder: optional(text),
  labels: distinctListOf(line(64), 20),
  parent_id: orNull(taskId),
  priority: oneOf(PRIORITIES),
  progress: number(0, 100),
  project: projectSlug,
  sequence: wholeNumber(1),
  // A state of the workflow, which is checked below. It holds for all others here, so that the defect is named there.
  status: { ...text, shape: { is: 'literal', values: Object.values(WORKFLOW_STATES).flat() } },
  taken_from: optional(text),
  task_id: taskId,
  title: line(256),
  updated_at: time,
  updated_by: text,
  workflow: oneOf(Object.keys(WORKFLOW_STATES)),
};

interface TaskContent {
  readonly task_id: string;
  readonly workflow: keyof typeof WORKFLOW_STATES;
  readonly status: string;
  readonly blocked_reason: string | null;
  readonly updated_at: string;
  readonly updated_by: string;
}

/** The first defect of a recorded content; undefined if a server could have written it. */
export function taskDefect(content: string): string | undefined {
  return readTask(content).defect;
}

/** True if an entry names the same task, time and actor as the content that it digests. */
export function isOfEvent(entry: Entry, content: string): boolean {
  return taskEventDefect(entry, content) === undefined;
}

/** The first defect of a recorded content, also if it is not of the entry that digests it. */
export function taskEventDefect(entry: Entry, content: string): string | undefined {
  const { defect, task } = readTask(content);
  if (task === undefined) return defect;
  const isOfEntry =
    entry['task_id'] === task.task_id && entry.at === task.updated_at && entry.actor === task.updated_by;
  return isOfEntry ? undefined : 'is of another task, time or actor';
}

type Reading =
  | { readonly task: TaskContent; readonly defect?: undefined }
  | { readonly task?: undefined; readonly defect: string };

function readTask(content: string): Reading {
  if (!isCanonicalText(content)) return { defect: 'is not canonical JSON' };
  const value = parseJson(content);
  const defect = objectDefect(TASK_GRAMMAR, value);
  if (defect !== undefined) return { defect };
  const task = value as TaskContent;
  const { workflow, status, blocked_reason } = task;
  const states: readonly string[] = WORKFLOW_STATES[workflow];
  if (!states.includes(status)) return { defect: `has a status that is not a state of ${workflow}` };
  const isBlocked = status === 'blocked';
  if (isBlocked === (blocked_reason !== null)) return { task };
  return { defect: isBlocked ? 'is blocked without a blocked_reason' : 'has a blocked_reason and is not blocked' };
}
