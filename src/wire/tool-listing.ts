import * as z from 'zod';
import { accessOf } from '../modes.ts';
import type { ObjectSchema, Tool } from '../tool.ts';

type JsonSchema = Record<string, unknown>;

/** A tool as `tools/list` shows it. Every word costs every client context in every conversation. */
export interface ToolListing {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema & { type: 'object' };
  readonly outputSchema: JsonSchema & { type: 'object' };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

export function listTool(tool: Tool): ToolListing {
  return {
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: { type: 'object', ...jsonSchema(tool.inputSchema, 'input') },
    outputSchema: outputSchema(tool),
    annotations: {
      readOnlyHint: accessOf(tool) !== 'write',
      // No tool deletes anything.
      destructiveHint: false,
      idempotentHint: tool.idempotent ?? false,
      openWorldHint: false,
    },
  };
}

/** Covers failures as well, because older clients validate errors against it too. */
function outputSchema({ outputSchema: data, errorPattern }: Tool): ToolListing['outputSchema'] {
  const success: JsonSchema = data === undefined ? { type: 'object' } : jsonSchema(data, 'output');
  const failure = { type: 'object', properties: { ok: { const: false }, error: ERROR }, required: ['ok', 'error'] };
  return {
    type: 'object',
    properties: {
      ok: { type: 'boolean' },
      data: errorPattern === 'B' ? { anyOf: [success, failure] } : success,
      error: ERROR,
    },
    required: ['ok'],
  };
}

const ERROR: JsonSchema = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' } },
  required: ['code', 'message'],
};

function jsonSchema(schema: ObjectSchema, io: 'input' | 'output'): JsonSchema {
  return lean(z.toJSONSchema(schema as unknown as z.ZodObject, { io, unrepresentable: 'any', override: trim }));
}

/** Removes what the generator states needlessly: bounds of every safe integer, and `additionalProperties: {}`. */
function trim({ jsonSchema: schema }: { jsonSchema: JsonSchema }): void {
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (isEmpty(schema['additionalProperties'])) delete schema['additionalProperties'];
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function lean({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
