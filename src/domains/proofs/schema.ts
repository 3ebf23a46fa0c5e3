import * as z from 'zod';
import { sessionId, taskId } from '../../fields.ts';

export const finalizeInput = z.strictObject({
  session_id: sessionId,
  task_id: taskId.optional().describe('seal only the records of this task; the others can never be sealed'),
});

export const finalizeOutput = z.object({
  session_id: z.string(),
  merkle_root: z.string(),
  tree_depth: z.int(),
  leaf_count: z.int(),
  finalized_at: z.string(),
  frozen: z.boolean(),
});

export const rootInput = z.strictObject({ session_id: sessionId });

export const rootOutput = z.object({
  session_id: z.string(),
  merkle_root: z.string(),
  is_finalized: z.boolean(),
  as_of: z.string(),
});
