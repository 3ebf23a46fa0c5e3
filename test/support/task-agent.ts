import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import * as z from 'zod';
import {
  createOutput,
  getOutput,
  listOutput,
  nextActionsOutput,
  updateOutput,
} from '../../src/domains/tasks/output.ts';
import { sessionOutput, thoughtOutput } from '../../src/domains/trail/schema.ts';

export type Arguments = Record<string, unknown>;

/** A failure as the client sees it: a rule's facts stand beside the code (B), a stage's inside `details` (A). */
export interface Failure {
  readonly pattern: 'A' | 'B';
  readonly code: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface Reply {
  readonly data: unknown;
  readonly failure: Failure | undefined;
}

const errorShape = z.looseObject({ code: z.string(), message: z.string() });
const patternA = z.strictObject({ ok: z.literal(false), error: errorShape.extend({ details: z.looseObject({}) }) });
const patternB = z.strictObject({
  ok: z.literal(true),
  data: z.strictObject({ ok: z.literal(false), error: errorShape }),
});
const success = z.strictObject({ ok: z.literal(true), data: z.unknown() });

export type Agent = ReturnType<typeof createAgent>;

/** An MCP client that knows the tools. Every answer is checked against its strict shape, not only looked at. */
export function createAgent(client: Client) {
  const call = async (name: string, input: Arguments): Promise<Reply> => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
    return isError ? { data: undefined, failure: readFailure(structuredContent) } : readSuccess(structuredContent);
  };
  const answers =
    <Shape extends z.core.$ZodLooseShape>(name: string, output: z.ZodObject<Shape>) =>
    async (input: Arguments): Promise<z.output<z.ZodObject<Shape, z.core.$strict>>> => {
      const { data, failure } = await call(name, input);
      if (failure !== undefined) throw new Error(`${name} failed: ${failure.code}: ${failure.message}`);
      return output.strict().parse(data);
    };
  return {
    client,
    call,
    create: answers('task_create', createOutput),
    update: answers('task_update', updateOutput),
    get: answers('task_get', getOutput),
    list: answers('task_list', listOutput),
    next: answers('task_next_actions', nextActionsOutput),
    startSession: answers('audit_session_start', sessionOutput),
    think: answers('thought_record', thoughtOutput),
    refusal: async (name: string, input: Arguments): Promise<Failure> => {
      const { failure } = await call(name, input);
      if (failure === undefined) throw new Error(`${name} accepted ${JSON.stringify(input)}`);
      return failure;
    },
  };
}

function readSuccess(structured: unknown): Reply {
  return { data: success.parse(structured).data, failure: undefined };
}

function readFailure(structured: unknown): Failure {
  const inside = patternB.safeParse(structured);
  if (inside.success) {
    const { code, message, ...facts } = inside.data.data.error;
    return { pattern: 'B', code, message, facts };
  }
  const { code, message, details } = patternA.parse(structured).error;
  return { pattern: 'A', code, message, facts: details };
}
