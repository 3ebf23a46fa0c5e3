import { WORKFLOW_NAMES } from '../../../config.ts';
import * as forms from '../../../integrity/forms.ts';
import { PRIORITIES } from '../../../integrity/index.ts';
import { STATUSES, UNASSIGNED } from '../workflows.ts';
import type { FieldTable } from './derive.ts';
import {
  actorName,
  count,
  line,
  list,
  nullable,
  number,
  oneOf,
  projectSlug,
  prose,
  ranked,
  taskReference,
  time,
} from './types.ts';

/**
 * The fields of a task, each declared once. Columns, the recorded content and its grammar, inputs, outputs and
 * verification are derived from here; CONTRIBUTING.md says how to add one.
 */
export const TASK_FIELDS = {
  task_id: { type: taskReference, column: 'task_no' },
  title: { type: line(256), create: 'required', update: true },
  description: { type: prose(8000), initial: '', create: true, update: true, clearable: true },
  project: { type: projectSlug, create: true },
  workflow: { type: oneOf(WORKFLOW_NAMES), create: true },
  // Which states a workflow has is a rule of its own (`taskDefect`).
  status: {
    type: { ...oneOf<string>(STATUSES), form: forms.text },
    create: { hint: 'backlog (default) or todo; INIT for a pipeline' },
    update: true,
  },
  priority: { type: ranked(PRIORITIES), initial: 'normal', create: true, update: true },
  progress: { type: number(0, 100), initial: 0, update: true },
  assignee: { type: actorName, initial: UNASSIGNED, create: true, update: true, clearable: true },
  labels: { type: list(line(64), 20), initial: [], create: true, update: true },
  estimate_hours: { type: nullable(number(0, 1000)), initial: null, create: true, update: true, clearable: true },
  parent_id: {
    type: nullable(taskReference),
    column: 'parent_no',
    initial: null,
    create: true,
    update: true,
    clearable: true,
  },
  depends_on: { type: list(taskReference, 50), initial: [], create: true, update: true },
  blocked_reason: {
    type: nullable(line(1000)),
    initial: null,
    update: { hint: 'required with status blocked' },
    clearable: true,
  },
  /** The agent with the claim, and the one that it took the claim from since the task was last free. */
  holder: { type: nullable(actorName), initial: null, addedLater: true },
  taken_from: { type: nullable(actorName), initial: null, addedLater: true },
  /** Rises when the task is sent back; a thought counts for the attempt in which it was recorded. */
  attempt: { type: count(1), initial: 1 },
  sequence: { type: count(1) },
  created_at: { type: time },
  created_by: { type: actorName },
  updated_at: { type: time },
  updated_by: { type: actorName },
} as const satisfies FieldTable;
