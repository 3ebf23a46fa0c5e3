import * as z from 'zod';
import { WORKFLOW_NAMES } from '../../config.ts';
import { line, prose } from '../../fields.ts';
import { taskId } from '../../ids.ts';
import { isProjectSlug, PRIORITIES } from '../../integrity/index.ts';
import { STATUSES, type WorkflowName } from './workflows.ts';

/** The position is what the database stores and sorts by. */
export { PRIORITIES };

/** A task as it is kept, hashed and compared: plain JSON with one spelling. */
export interface Task {
  readonly task_id: string;
  readonly project: string;
  readonly sequence: number;
  readonly workflow: WorkflowName;
  readonly status: string;
  readonly title: string;
  readonly description: string;
  readonly priority: (typeof PRIORITIES)[number];
  readonly progress: number;
  readonly assignee: string;
  readonly labels: readonly string[];
  readonly estimate_hours: number | null;
  readonly parent_id: string | null;
  readonly depends_on: readonly string[];
  readonly blocked_reason: string | null;
  /** Rises when the task is sent back; a thought counts for the attempt in which it was recorded. */
  readonly attempt: number;
  readonly created_at: string;
  readonly created_by: string;
  readonly updated_at: string;
  readonly updated_by: string;
}

export const project = z.string().refine(isProjectSlug, 'is not a project slug: a-z, 0-9, ".", "_", "-", at most 64');
const status = z.enum(STATUSES);
const priority = z.enum(PRIORITIES);
const labels = z.array(line(64)).max(20);
const dependsOn = z.array(taskId).max(50);
const progress = z.int().min(0).max(100);
const estimateHours = z.number().min(0).max(1000);

const time = z
  .string()
  .max(40)
  .refine(isTime, 'is not an ISO-8601 time such as 2026-04-08T22:15:30Z')
  .transform((text) => new Date(text).toISOString());

/** Stricter than Date.parse, which turns February 30 into March 2. */
function isTime(text: string): boolean {
  const isoDate = z.iso.date().safeParse(text.slice(0, 10)).success;
  const isIso = isoDate && (text.length === 10 || z.iso.datetime({ offset: true }).safeParse(text).success);
  // An offset can carry a time out of the years with four digits, and then it no longer compares as text.
  return isIso && /^\d{4}-/.test(new Date(text).toISOString());
}

export const createInput = z.strictObject({
  title: line(256),
  description: prose(8000).optional(),
  project: project.optional(),
  parent_id: taskId.optional(),
  depends_on: dependsOn.optional(),
  priority: priority.optional(),
  labels: labels.optional(),
  assignee: line(128).optional(),
  estimate_hours: estimateHours.optional(),
  workflow: z.enum(WORKFLOW_NAMES).optional(),
  status: status.optional().describe('backlog (default) or todo; INIT for a pipeline'),
});

export const updateInput = z
  .strictObject({
    task_id: taskId,
    status: status.optional(),
    progress: progress.optional(),
    title: line(256).optional(),
    description: prose(8000).optional(),
    priority: priority.optional(),
    assignee: line(128).optional(),
    labels: labels.optional(),
    blocked_reason: line(1000).optional().describe('required with status blocked'),
    parent_id: taskId.optional(),
    depends_on: dependsOn.optional(),
    estimate_hours: estimateHours.optional(),
  })
  .refine((input) => Object.keys(input).length > 1, 'names nothing to change')
  .refine((input) => input.status !== 'blocked' || input.blocked_reason !== undefined, {
    path: ['blocked_reason'],
    message: 'is required with status blocked: say what the task waits for',
  });

export const getInput = z.strictObject({
  task_id: taskId,
  include_thought_trail: z.boolean().optional(),
  include_dependents: z.boolean().optional(),
});

export const listInput = z.strictObject({
  project: project.optional(),
  status: z.array(status).max(STATUSES.length).optional(),
  priority: z.array(priority).max(PRIORITIES.length).optional(),
  assignee: line(128).optional(),
  label: line(64).optional(),
  created_after: time.optional(),
  created_before: time.optional(),
  search: prose(256).optional().describe('words of title and description'),
  limit: z.int().min(1).max(500).default(50),
  offset: z.int().min(0).default(0),
  sort_by: z.enum(['created', 'updated', 'priority', 'progress']).default('updated'),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
});

export const nextActionsInput = z.strictObject({
  project: project.optional(),
  limit: z.int().min(1).max(100).default(20),
  include_blocked: z.boolean().default(false),
});

export type CreateInput = z.output<typeof createInput>;
export type UpdateInput = z.output<typeof updateInput>;
export type ListInput = z.output<typeof listInput>;
