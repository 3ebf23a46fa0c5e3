import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { ledgerAt } from '../support/ledger-targets.ts';
import { promiseTest } from '../support/promise-test.ts';

/** What both generations of the official client have in common, as far as a caller sees it. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string; outputSchema?: object | undefined }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const CLIENTS: Readonly<Record<string, (path: string) => Promise<AnyClient>>> = {
  'the present client': async (path) => {
    const client = new Client({ name: 'present', version: '1' });
    await client.connect(new StdioClientTransport(await program(path)));
    return client;
  },
  'the older client': async (path) => {
    const client = new OlderClient({ name: 'older', version: '1' });
    await client.connect(new OlderTransport(await program(path)));
    return client;
  },
};

async function program(path: string) {
  const env = { ...(await ledgerAt(path)), COLIBRI_LOG_LEVEL: 'error' };
  return { command: process.execPath, args: ['dist/colibri.cjs'], env, stderr: 'inherit' as const };
}

/** Every answer that the task tools can give, as the calls that lead to it and the code that it has. */
const STORY: readonly (readonly [tool: string, input: Record<string, unknown>, code: string | undefined])[] = [
  ['task_next_actions', {}, undefined],
  ['task_next_actions', { project: 'nowhere' }, 'ERR_PROJECT_NOT_FOUND'],
  ['task_list', {}, undefined],
  ['task_create', { title: 'first', status: 'todo', estimate_hours: 0.5, labels: ['a'] }, undefined],
  ['task_create', { title: 'second', parent_id: 'T-0001', status: 'todo' }, undefined],
  ['task_create', { title: '', nonsense: 1 }, 'INVALID_PARAMS'],
  ['task_create', { title: 'x', status: 'done' }, 'ERR_INVALID_TRANSITION'],
  ['task_create', { title: 'x', parent_id: 'T-0099' }, 'ERR_NOT_FOUND'],
  ['task_create', { title: 'x', parent_id: 'T-0001', depends_on: ['T-0001'] }, 'ERR_CIRCULAR_DEPENDENCY'],
  ['task_next_actions', { include_blocked: true }, undefined],
  ['task_update', { task_id: 'T-0001', status: 'in_progress', progress: 100 }, undefined],
  ['task_update', { task_id: 'T-0001', status: 'in_progress' }, 'ERR_INVALID_TRANSITION'],
  ['task_update', { task_id: 'T-0001', depends_on: ['T-0001'] }, 'ERR_CIRCULAR_DEPENDENCY'],
  ['task_update', { task_id: 'T-0001', status: 'review' }, undefined],
  ['task_update', { task_id: 'T-0001', status: 'done' }, 'ERR_WRITEBACK_REQUIRED'],
  ['task_update', { task_id: 'T-0099', progress: 1 }, 'ERR_NOT_FOUND'],
  ['task_update', { task_id: 'T-0001' }, 'INVALID_PARAMS'],
  ['thought_record', { task_id: 'T-0001', type: 'risk', content: 'x' }, 'HANDLER_ERROR'],
  ['audit_session_start', { task_id: 'T-0099', auditor_id: 'x' }, 'ERR_TASK_NOT_FOUND'],
  ['audit_session_start', { task_id: 'T-0001', auditor_id: 'x' }, undefined],
  ['audit_session_start', { task_id: 'T-0001', auditor_id: 'x' }, 'ERR_SESSION_EXISTS'],
  ['thought_record', { task_id: 'T-0001', type: 'risk', content: 'x' }, undefined],
  ['task_get', { task_id: 'T-0001', include_thought_trail: true, include_dependents: true }, undefined],
  ['task_get', { task_id: 'T-0099' }, 'ERR_NOT_FOUND'],
  ['task_get', { task_id: '' }, 'INVALID_PARAMS'],
  ['task_list', { search: 'first', limit: 1 }, undefined],
  ['task_list', { limit: 501 }, 'INVALID_PARAMS'],
  ['task_update', { task_id: 'T-0001', status: 'done' }, undefined],
];

const failure = z.looseObject({ code: z.string(), message: z.string().min(10) });
const answer = z.looseObject({
  isError: z.boolean().optional(),
  structuredContent: z.union([
    z.strictObject({ ok: z.literal(false), error: failure }),
    z.strictObject({ ok: z.literal(true), data: z.strictObject({ ok: z.literal(false), error: failure }) }),
    z.strictObject({ ok: z.literal(true), data: z.looseObject({ ok: z.undefined().optional() }) }),
  ]),
});

/** A schema that asks for nothing would accept every answer. */
const requiredFields = z
  .looseObject({
    properties: z.looseObject({
      data: z.looseObject({ anyOf: z.tuple([z.looseObject({ required: z.array(z.string()) }), z.unknown()]) }),
    }),
  })
  .transform(({ properties }) => properties.data.anyOf[0].required);

describe('answers', () => {
  for (const [name, connect] of Object.entries(CLIENTS)) {
    promiseTest('tasks/shapes', `${name} accepts each success and each failure`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'colibri-shapes-'));
      const client = await connect(join(folder, 'colibri.db'));
      try {
        // A client checks answers against the schemas only when it has listed the tools.
        const { tools } = await client.listTools();
        for (const { name: tool, outputSchema } of tools) {
          if (tool.startsWith('task_')) expect(requiredFields.parse(outputSchema).length).toBeGreaterThan(2);
        }
        for (const [tool, input, code] of STORY) {
          const reply = answer.parse(await client.callTool({ name: tool, arguments: input }));
          const { structuredContent } = reply;
          const inner = structuredContent.ok ? structuredContent.data : structuredContent;
          const seen = 'error' in inner ? (inner.error as { code: string }).code : undefined;
          expect([tool, seen, reply.isError ?? false]).toEqual([tool, code, code !== undefined]);
        }
      } finally {
        await client.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }
});
