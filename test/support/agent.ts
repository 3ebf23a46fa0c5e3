import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import * as z from 'zod';
import { finalizeOutput, rootOutput } from '../../src/domains/proofs/schema.ts';
import {
  createOutput,
  getOutput,
  listOutput,
  nextActionsOutput,
  updateOutput,
} from '../../src/domains/tasks/output.ts';
import { sessionOutput, thoughtListOutput, thoughtOutput, verifyOutput } from '../../src/domains/trail/schema.ts';

export type Arguments = Record<string, unknown>;

/** A failure as a client sees it. Pattern A carries its facts in `details`, pattern B beside the code. */
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

const success = z.strictObject({ ok: z.literal(true), data: z.unknown() });
const error = z.looseObject({ code: z.string(), message: z.string() });
const patternA = z.strictObject({ ok: z.literal(false), error: error.extend({ details: z.looseObject({}) }).strict() });
const patternB = z.strictObject({ ok: z.literal(true), data: z.strictObject({ ok: z.literal(false), error }) });

export type Agent = ReturnType<typeof createAgent>;

/** The tools as functions of an MCP client. Every response is parsed with its strict output schema. */
export function createAgent(client: Client) {
  const call = async (name: string, input: Arguments): Promise<Reply> => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
    const json = JSON.stringify(structuredContent);
    if (isError) {
      const failure = readFailure(structuredContent);
      const [first, ...rest] = (content as { text: string }[])[0]?.text.split('\n') ?? [];
      const code = failure.facts['code'] ?? failure.code;
      expect(first).toMatch(new RegExp(`^${code as string}: .*[.!?]$`));
      expect(rest).toEqual([json]);
      return { data: undefined, failure };
    }
    expect(content).toEqual([{ type: 'text', text: json }]);
    return { data: success.parse(structuredContent).data, failure: undefined };
  };
  const tool =
    <Shape extends z.core.$ZodLooseShape>(name: string, output: z.ZodObject<Shape>) =>
    async (input: Arguments = {}): Promise<z.output<z.ZodObject<Shape, z.core.$strict>>> => {
      const { data, failure } = await call(name, input);
      if (failure !== undefined) throw new Error(`${name} failed: ${JSON.stringify(failure)}`);
      return output.strict().parse(data);
    };
  return {
    client,
    call,
    createTask: tool('task_create', createOutput),
    updateTask: tool('task_update', updateOutput),
    getTask: tool('task_get', getOutput),
    listTasks: tool('task_list', listOutput),
    nextActions: tool('task_next_actions', nextActionsOutput),
    startSession: tool('audit_session_start', sessionOutput),
    recordThought: tool('thought_record', thoughtOutput),
    listThoughts: tool('thought_record_list', thoughtListOutput),
    verifyChain: tool('audit_verify_chain', verifyOutput),
    finalize: tool('merkle_finalize', finalizeOutput),
    merkleRoot: tool('merkle_root', rootOutput),
    readResource: async (uri: string): Promise<string> => {
      const [first] = (await client.readResource({ uri })).contents;
      if (first === undefined || !('text' in first)) throw new Error('the resource has no text');
      return first.text;
    },
    refusal: async (name: string, input: Arguments): Promise<Failure> => {
      const { failure } = await call(name, input);
      if (failure === undefined) throw new Error(`${name} accepted ${JSON.stringify(input).slice(0, 200)}`);
      return failure;
    },
  };
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
