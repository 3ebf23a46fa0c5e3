import * as z from 'zod';
import { line, prose, taskId } from '../../fields.ts';
import { PRIORITIES } from '../../integrity/index.ts';
import { TASK_FIELDS } from './fields/table.ts';
import { taskFields } from './record.ts';
import { STATUSES } from './workflows.ts';

const project = TASK_FIELDS.project.type.input;
const status = z.enum(STATUSES);
const priority = z.enum(PRIORITIES);

const time = z
  .string()
  .max(40)
  .refine(isTime, 'is not an ISO-8601 time such as 2026-04-08T22:15:30Z')
  .transform((text) => new Date(text).toISOString());

/** Stricter than Date.parse, which turns February 30 into March 2. */
function isTime(text: string): boolean {
  const isoDate = z.iso.date().safeParse(text.slice(0, 10)).success;
  const isIso = isoDate && (text.length === 10 || z.iso.datetime({ offset: true }).safeParse(text).success);
  // An offset can move a time out of the four-digit years, which would break comparison as text.
  return isIso && /^\d{4}-/.test(new Date(text).toISOString());
}

const claimToken = z.int().min(0).describe('token of your claim; a stale one is refused');

export const createInput = z.strictObject(taskFields.inputShape('create'));

export const updateInput = z
  .strictObject({ task_id: taskId, ...taskFields.inputShape('update'), claim: claimToken.optional() })
  .refine(({ task_id: _id, claim: _claim, ...input }) => Object.keys(input).length > 0, {
    message: 'changes nothing: give at least one field',
  })
  .refine((input) => input.status !== 'blocked' || typeof input.blocked_reason === 'string', {
    path: ['blocked_reason'],
    message: 'is required with status blocked: give the reason',
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
