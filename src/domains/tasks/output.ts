import * as z from 'zod';
import { TASK_FIELDS } from './fields/table.ts';
import { taskFields } from './record.ts';

/** `sequence` is internal. */
const { sequence: _sequence, ...shown } = TASK_FIELDS;
const SHOWN = Object.keys(shown) as (keyof typeof shown)[];

/** The columns of one row of task_list: few, because a model reads every row. */
export const listed = taskFields.select([
  'task_id',
  'title',
  'project',
  'status',
  'priority',
  'progress',
  'assignee',
  'created_at',
  'updated_at',
]);

export const offered = taskFields.select(['task_id', 'title', 'priority', 'assignee', 'estimate_hours', 'parent_id']);

/** Answers omit fields that are null. */
export function withoutNulls<Values extends object>(values: Values): Present<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as Present<Values>;
}

export type Present<Values> = {
  [Name in keyof Values as null extends Values[Name] ? never : Name]: Values[Name];
} & { [Name in keyof Values as null extends Values[Name] ? Name : never]?: NonNullable<Values[Name]> };

export const createOutput = z.object(
  taskFields.outputShape(['task_id', 'status', 'created_at', 'created_by', 'sequence']),
);

export const updateOutput = z.object({
  ...taskFields.outputShape(['task_id', 'status', 'progress', 'assignee', 'updated_at', 'updated_by']),
  ...taskFields.outputShape(['holder', 'taken_from']),
  claim: z.int().optional(),
  previous_status: z.string().optional(),
  warnings: z.array(z.string()).optional(),
});

/** What a thought says about tests and commits, compared with what clients and git reported. */
const evidence = z.object({
  thought_id: z.string(),
  field: z.enum(['tests_run', 'commit_sha']),
  value: z.string(),
  state: z.enum(['observed', 'said', 'contradicted']),
  entry: z.int().optional(),
  exit_code: z.int().optional(),
  failed: z.boolean().optional(),
});

export const getOutput = z.object({
  ...taskFields.outputShape(SHOWN),
  claim: z.int().optional(),
  thought_trail: z.array(z.string()).optional(),
  thought_trail_total: z.int().optional(),
  evidence: z.array(evidence).optional(),
  evidence_total: z.int().optional(),
  observations_total: z.int().optional(),
  dependents: z.array(z.string()).optional(),
  dependents_total: z.int().optional(),
  truncated: z.boolean().optional(),
});

export const listOutput = z.object({
  tasks: z.array(z.object(taskFields.outputShape(listed.names))),
  total_count: z.int(),
  returned_count: z.int(),
  offset: z.int(),
  limit: z.int(),
});

const lapse = {
  lapsed: z.boolean().optional(),
  held_by: z.string().optional(),
  silent_for_s: z.int().optional(),
};

export const nextActionsOutput = z.object({
  next_actions: z.array(
    z.object({
      ...taskFields.outputShape(offered.names),
      dependencies_unmet: z.int(),
      ...lapse,
    }),
  ),
  count: z.int(),
  project: z.string(),
  hint: z.string().optional(),
  blocked: z
    .array(
      z.object({
        ...taskFields.outputShape(['task_id', 'title']),
        blocked_reason: z.string(),
        dependencies_unmet: z.int(),
        ...lapse,
      }),
    )
    .optional(),
});
