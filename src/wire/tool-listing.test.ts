import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { promiseTest } from '../../test/support/promise-test.ts';
import type { ServerFacts } from '../domains/system/health.ts';
import { render } from '../envelope.ts';
import { ColibriError } from '../errors.ts';
import { createSurface } from '../surface.ts';
import type { Tool } from '../tool.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { listTool, type ToolListing } from './tool-listing.ts';

const tool: Tool = {
  name: 'sample',
  inputSchema: z.strictObject({ count: z.int().optional(), page: z.int().min(1).max(9).default(1) }),
  outputSchema: z.object({ id: z.string(), size: z.int() }),
  handle: () => ({}),
};

const surface = createSurface(
  {
    pulse: () => ({}) as ServerFacts,
    facts: () => ({}) as ServerFacts,
    database: () => undefined,
    skills: () => undefined,
    checkpoint: () => undefined,
  },
  { project: 'default', workflow: 'board', claimTtlMs: undefined },
);

describe('annotations', () => {
  const cases: [string, Partial<Tool>, Partial<ToolListing['annotations']>][] = [
    ['a writer', { access: 'write' }, { readOnlyHint: false }],
    ['a reader', { access: 'read' }, { readOnlyHint: true }],
    ['a tool that needs no ledger', { access: 'none' }, { readOnlyHint: true }],
    ['a tool that says nothing counts as a writer', {}, { readOnlyHint: false }],
    ['an idempotent one', { access: 'read', idempotent: true }, { readOnlyHint: true, idempotentHint: true }],
  ];
  for (const [what, changes, expected] of cases) {
    promiseTest('door/definitions', what, () => {
      const fallback = { destructiveHint: false, idempotentHint: false, openWorldHint: false };
      expect(listTool({ ...tool, ...changes }).annotations).toEqual({ ...fallback, ...expected });
    });
  }

  promiseTest('door/definitions', 'all four for every tool of the surface', () => {
    for (const { name, annotations } of surface.map(listTool)) {
      expect(Object.keys(annotations), name).toHaveLength(4);
      for (const hint of Object.values(annotations)) expect(hint, name).toBeTypeOf('boolean');
    }
  });
});

describe('schemas', () => {
  promiseTest('door/definitions', 'no $schema and no bounds of every safe integer', () => {
    const { inputSchema } = listTool(tool);
    expect(inputSchema).toEqual({
      type: 'object',
      properties: { count: { type: 'integer' }, page: { type: 'integer', minimum: 1, maximum: 9, default: 1 } },
      additionalProperties: false,
    });
  });

  promiseTest('door/definitions', 'also for every tool of the surface', () => {
    const text = JSON.stringify(surface.map(listTool));
    expect(text).not.toMatch(/\$schema|9007199254740991/);
    for (const { name, title, description, inputSchema } of surface) {
      expect(title, name).toBeTruthy();
      expect(description?.length, name).toBeGreaterThan(20);
      expect(description?.length, name).toBeLessThan(1024);
      expect(inputSchema.safeParse({ no_such_field: 1 }).success, name).toBe(false);
    }
  });

  promiseTest('door/definitions', 'no empty additionalProperties', () => {
    const inputSchema = z.strictObject({ metadata: z.record(z.string(), z.unknown()) });
    expect(listTool({ ...tool, inputSchema }).inputSchema['properties']).toEqual({
      metadata: { type: 'object', propertyNames: { type: 'string' } },
    });
    expect(JSON.stringify(surface.map(listTool))).not.toContain('"additionalProperties":{}');
  });

  promiseTest('door/definitions', 'an absent title or description is omitted', () => {
    expect(Object.keys(listTool(tool))).toEqual(['name', 'inputSchema', 'outputSchema', 'annotations']);
  });

  for (const errorPattern of ['A', 'B'] as const) {
    const { outputSchema } = listTool({ ...tool, errorPattern });
    const accepts = acceptorOf(outputSchema);
    const envelope = (code: 'INVALID_PARAMS' | 'ERR_NOT_FOUND') => {
      const error = new ColibriError(code, 'no', { taskId: 'T-0001', issues: [] });
      return render(errorPattern, { ok: false, error, thrown: error }).structuredContent;
    };

    promiseTest('door/definitions', `pattern ${errorPattern}: success, failed rule and failed stage`, () => {
      expect(accepts({ ok: true, data: { id: 'T-0001', size: 5 } })).toBe(true);
      expect(accepts(envelope('ERR_NOT_FOUND'))).toBe(true);
      expect(accepts(envelope('INVALID_PARAMS'))).toBe(true);
    });

    const wrong = [{}, { data: {} }, { ok: 'yes' }, { ok: true, data: { id: 5, size: 5 } }, { ok: false, error: {} }];
    for (const value of wrong) {
      promiseTest('door/definitions', `pattern ${errorPattern}: not ${JSON.stringify(value)}`, () => {
        expect(accepts(value)).toBe(false);
      });
    }
  }

  it('accept any data for a tool without an output schema', () => {
    const { outputSchema: _none, ...silent } = tool;
    const accepts = acceptorOf(listTool(silent).outputSchema);
    expect(accepts({ ok: true, data: { anything: 1 } })).toBe(true);
  });
});

describe('the instructions', () => {
  promiseTest('door/definitions', 'the instructions fit into 2,000 characters', () => {
    expect(INSTRUCTIONS.length).toBeLessThanOrEqual(2000);
    expect(INSTRUCTIONS.length).toBeGreaterThan(100);
  });
});

/** The validator of the official client. */
function acceptorOf(schema: ToolListing['outputSchema']): (value: unknown) => boolean {
  const validate = new AjvJsonSchemaValidator().getValidator(schema);
  return (value) => validate(value).valid;
}
