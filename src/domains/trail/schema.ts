import * as z from 'zod';
import { isVisible, line, prose, sessionId, taskId } from '../../fields.ts';
import { canonicalize, MAX_KEY_LENGTH, MAX_METADATA_LENGTH, SCOPES, THOUGHT_TYPES } from '../../integrity/index.ts';

/** Checked, not rebuilt: Zod would drop a member named __proto__ from a record. */
const metadata = z
  .unknown()
  .superRefine((value, context) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return context.addIssue({ code: 'custom', message: 'is not an object' });
    }
    for (const key of Object.keys(value)) {
      const message = `has a key longer than ${MAX_KEY_LENGTH} characters`;
      if (key.length > MAX_KEY_LENGTH) context.addIssue({ code: 'custom', path: [key], message });
    }
    if (canonicalize(value).length > MAX_METADATA_LENGTH)
      context.addIssue({ code: 'custom', message: `is longer than ${MAX_METADATA_LENGTH} characters` });
  })
  .meta({ type: 'object' });

export const thoughtInput = z.strictObject({
  task_id: taskId,
  type: z.enum(THOUGHT_TYPES),
  content: prose(5000).refine(isVisible, 'is blank'),
  session_id: sessionId.optional().describe("default: the task's live session"),
  branch: line(256).optional(),
  commit_sha: z
    .string()
    .regex(/^[0-9a-f]{7,64}$/i, 'is not a commit hash')
    .optional(),
  tests_run: z.array(line(512)).max(200).optional(),
  blockers: z.array(line(1000)).max(50).optional(),
  metadata: metadata.optional(),
});

export const thoughtOutput = z.object({
  thought_id: z.string(),
  task_id: z.string(),
  type: z.string(),
  hash: z.string(),
  previous_hash: z.string().nullable(),
  recorded_at: z.string(),
  recorded_by: z.string(),
  chain_position: z.int(),
  session_id: z.string(),
});

export const sessionInput = z.strictObject({
  task_id: taskId,
  auditor_id: line(128),
  reason: prose(1000).optional(),
  scope: z.enum(SCOPES).default('shallow').describe('deep also covers descendants'),
});

export const sessionOutput = z.object({
  session_id: z.string(),
  task_id: z.string(),
  auditor_id: z.string(),
  started_at: z.string(),
  scope: z.string(),
});

export const thoughtListInput = z.strictObject({
  task_id: taskId.optional(),
  session_id: sessionId.optional(),
  type: z.enum(THOUGHT_TYPES).optional(),
  limit: z.int().min(1).max(500).default(100),
  offset: z.int().min(0).default(0),
  verify_chain: z.boolean().default(false),
});

export const thoughtListOutput = z.object({
  task_id: z.string().optional(),
  session_id: z.string().optional(),
  thought_count: z.int(),
  thoughts: z.array(
    z.object({
      thought_id: z.string(),
      task_id: z.string(),
      type: z.string(),
      content: z.string(),
      hash: z.string(),
      previous_hash: z.string().nullable(),
      recorded_at: z.string(),
      recorded_by: z.string(),
      chain_position: z.int(),
    }),
  ),
  chain_valid: z.boolean().optional(),
  invalid_links: z.array(z.int()).optional(),
  truncated: z.boolean().optional(),
});

export const verifyInput = z
  .strictObject({
    session_id: sessionId.optional(),
    task_id: taskId.optional(),
    full_trace: z.boolean().default(false).describe('list every hash'),
  })
  .refine((input) => input.session_id !== undefined || input.task_id !== undefined, 'needs a session_id or a task_id');

export const verifyOutput = z.object({
  session_id: z.string().optional(),
  task_id: z.string().optional(),
  chain_valid: z.boolean(),
  total_records: z.int(),
  integrity_score: z.number(),
  redacted_records: z.int().optional(),
  broken_links: z.array(
    z.object({
      position: z.int(),
      expected_hash: z.string(),
      actual_hash: z.string(),
      record: z.string(),
      layer: z.string(),
      problem: z.string(),
    }),
  ),
  broken_links_total: z.int().optional(),
  trace: z.array(z.object({ position: z.int(), record: z.string(), hash: z.string() })).optional(),
  trace_total: z.int().optional(),
  truncated: z.boolean().optional(),
  verified_at: z.string(),
});

export type ThoughtListInput = z.output<typeof thoughtListInput>;
export type ThoughtInput = z.output<typeof thoughtInput>;

/** The canonical text of the fields that the hash of a thought does not cover. */
export function extrasOf({ branch, commit_sha, tests_run, blockers, metadata }: ThoughtInput): string {
  return canonicalize({
    ...(branch === undefined ? {} : { branch }),
    ...(commit_sha === undefined ? {} : { commit_sha }),
    ...(tests_run === undefined ? {} : { tests_run }),
    ...(blockers === undefined ? {} : { blockers }),
    ...(metadata === undefined ? {} : { metadata }),
  });
}
