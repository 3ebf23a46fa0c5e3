import * as z from 'zod';
import { sessionId, taskId } from '../../fields.ts';

/** The newest signed statement about the log; `covers_seal` says whether the seal of the session is under it. */
const checkpoint = z.object({ size: z.int(), root: z.string(), covers_seal: z.boolean() }).optional();

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
  checkpoint,
});

export const rootInput = z.strictObject({ session_id: sessionId });

export const rootOutput = z.object({
  session_id: z.string(),
  merkle_root: z.string(),
  is_finalized: z.boolean(),
  as_of: z.string(),
  checkpoint,
});
