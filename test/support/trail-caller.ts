import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import * as z from 'zod';
import { finalizeOutput, rootOutput } from '../../src/domains/proofs/schema.ts';
import { createOutput, updateOutput } from '../../src/domains/tasks/output.ts';
import { sessionOutput, thoughtListOutput, thoughtOutput, verifyOutput } from '../../src/domains/trail/schema.ts';

export type Arguments = Record<string, unknown>;

/** A failure as a client sees it; the facts of pattern A lie in `details`, those of pattern B beside the code. */
export interface Refusal {
  readonly pattern: 'A' | 'B';
  readonly code: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

const success = z.strictObject({ ok: z.literal(true), data: z.unknown() });
const error = z.looseObject({ code: z.string(), message: z.string() });
const patternA = z.strictObject({ ok: z.literal(false), error: error.extend({ details: z.looseObject({}) }).strict() });
const patternB = z.strictObject({ ok: z.literal(true), data: z.strictObject({ ok: z.literal(false), error }) });

export type TrailCaller = ReturnType<typeof createCaller>;

/** The tools as functions. Every answer is held against its strict output schema. */
export function createCaller(client: Client) {
  const answers =
    <Shape extends z.core.$ZodLooseShape>(name: string, output: z.ZodObject<Shape>) =>
    async (input: Arguments = {}) => {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
      expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
      if (isError) throw new Error(`${name} failed: ${JSON.stringify(structuredContent)}`);
      return output.strict().parse(success.parse(structuredContent).data);
    };
  return {
    createTask: answers('task_create', createOutput),
    updateTask: answers('task_update', updateOutput),
    start: answers('audit_session_start', sessionOutput),
    record: answers('thought_record', thoughtOutput),
    list: answers('thought_record_list', thoughtListOutput),
    verify: answers('audit_verify_chain', verifyOutput),
    finalize: answers('merkle_finalize', finalizeOutput),
    root: answers('merkle_root', rootOutput),
    refusal: async (name: string, input: Arguments): Promise<Refusal> => {
      const { structuredContent, isError } = await client.callTool({ name, arguments: input });
      if (!isError) throw new Error(`${name} took ${JSON.stringify(input).slice(0, 200)}`);
      return readRefusal(structuredContent);
    },
  };
}

function readRefusal(structured: unknown): Refusal {
  const inside = patternB.safeParse(structured);
  if (inside.success) {
    const { code, message, ...facts } = inside.data.data.error;
    return { pattern: 'B', code, message, facts };
  }
  const { code, message, details } = patternA.parse(structured).error;
  return { pattern: 'A', code, message, facts: details };
}
