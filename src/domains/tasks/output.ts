import * as z from 'zod';

export const createOutput = z.object({
  task_id: z.string(),
  status: z.string(),
  created_at: z.string(),
  created_by: z.string(),
  sequence: z.int(),
});

export const updateOutput = z.object({
  task_id: z.string(),
  status: z.string(),
  progress: z.int(),
  assignee: z.string(),
  updated_at: z.string(),
  updated_by: z.string(),
  previous_status: z.string().optional(),
  warnings: z.array(z.string()).optional(),
});

export const getOutput = z.object({
  task_id: z.string(),
  title: z.string(),
  description: z.string(),
  project: z.string(),
  workflow: z.string(),
  status: z.string(),
  priority: z.string(),
  progress: z.int(),
  assignee: z.string(),
  labels: z.array(z.string()),
  estimate_hours: z.number().optional(),
  parent_id: z.string().optional(),
  depends_on: z.array(z.string()),
  blocked_reason: z.string().optional(),
  attempt: z.int(),
  created_at: z.string(),
  created_by: z.string(),
  updated_at: z.string(),
  updated_by: z.string(),
  thought_trail: z.array(z.string()).optional(),
  dependents: z.array(z.string()).optional(),
});

export const listOutput = z.object({
  tasks: z.array(
    z.object({
      task_id: z.string(),
      title: z.string(),
      project: z.string(),
      status: z.string(),
      priority: z.string(),
      progress: z.int(),
      assignee: z.string(),
      created_at: z.string(),
      updated_at: z.string(),
    }),
  ),
  total_count: z.int(),
  returned_count: z.int(),
  offset: z.int(),
  limit: z.int(),
});

export const nextActionsOutput = z.object({
  next_actions: z.array(
    z.object({
      task_id: z.string(),
      title: z.string(),
      priority: z.string(),
      assignee: z.string(),
      estimate_hours: z.number().optional(),
      parent_id: z.string().optional(),
      dependencies_unmet: z.int(),
    }),
  ),
  count: z.int(),
  project: z.string(),
  blocked: z
    .array(
      z.object({
        task_id: z.string(),
        title: z.string(),
        blocked_reason: z.string(),
        dependencies_unmet: z.int(),
      }),
    )
    .optional(),
});
