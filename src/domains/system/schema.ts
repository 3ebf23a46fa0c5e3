import * as z from 'zod';
import { MODES } from '../../modes.ts';

export const noInput = z.strictObject({});

/** The closed set of codes of `problems`; docs/operations.md explains each. */
export const HEALTH_CODES = [
  'CALL_NOT_RECORDED',
  'EARLIER_BACKUP',
  'ERR_INIT_FAILED',
  'ERR_LOG_ROLLBACK',
  'LEDGER_DAMAGED',
  'LEDGER_UNREADABLE',
  'SIGNING_FAILED',
  'WEAK_DURABILITY',
  'WITNESS_DISAGREES',
] as const;

export const pingOutput = z.object({
  version: z.string(),
  mode: z.enum(MODES),
  uptime_ms: z.int().nonnegative(),
  timestamp: z.string(),
  /** Only present if the ping could not be recorded. */
  recorded: z.literal(false).optional(),
});

export const healthOutput = z.object({
  status: z.enum(['ok', 'degraded']),
  problems: z.array(z.object({ code: z.enum(HEALTH_CODES), message: z.string() })),
  mode: z.enum(MODES),
  phase: z.enum(['starting', 'ready', 'failed', 'stopped']),
  capabilities: z.array(z.string()),
  uptime_ms: z.int().nonnegative(),
  version: z.string(),
  timestamp: z.string(),
  db: z.object({
    open: z.boolean(),
    engine: z.string().optional(),
    user_version: z.int(),
    path: z.string(),
    durability: z.string(),
  }),
  ledger: z.object({ size: z.int(), root: z.string() }).optional(),
  agents: z.object({ live: z.int() }).optional(),
  /** Whether this server signs checkpoints: with which key, and the newest one, or why not. */
  signing: z
    .object({
      state: z.enum(['on', 'off']),
      key: z.string().optional(),
      checkpoint: z.string().optional(),
      reason: z.string().optional(),
    })
    .optional(),
  /** What each witness that the user has named answered last. */
  witnesses: z
    .array(
      z.object({
        name: z.string(),
        state: z.enum(['cosigned', 'failed', 'disagrees']),
        size: z.int().optional(),
        at: z.string().optional(),
        problem: z.string().optional(),
      }),
    )
    .optional(),
  middleware: z.object({ stages: z.array(z.string()) }),
  tools: z.object({ registered: z.int() }),
  skills: z.object({ loaded: z.int(), skipped: z.array(z.object({ path: z.string(), defect: z.string() })) }),
  process: z.object({ pid: z.int(), node: z.string(), memory_bytes: z.int() }),
});

export type Health = z.output<typeof healthOutput>;
